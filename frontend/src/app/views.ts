// What comes by itself once the gateway has said hello, so that it is there also
// when the connection is lost. The rest comes when it is shown.
import { views as approvals } from "../features/approvals";
import { views as audit } from "../features/audit";
import { views as channels } from "../features/channels";
import { views as chat } from "../features/chat";
import { views as devices } from "../features/devices";
import { views as memory } from "../features/memory";
import { views as pause } from "../features/pause";
import { views as presence } from "../features/presence";
import { views as search } from "../features/search";
import { views as sessions } from "../features/sessions";
import { views as shortcuts } from "../features/shortcuts";
import { views as skills } from "../features/skills";
import { views as undo } from "../features/undo";
import { views as why } from "../features/why";
import type { Views } from "../ui/lazy.svelte";

export const soon: readonly Pick<Views<unknown>, "load">[] = [
  chat, approvals, devices, channels, pause, presence, undo, why, search, sessions, shortcuts, skills, audit, memory,
];
