// The panes of the settings, in their order, and what stands in each above and
// below its fields (features/settings/fields.ts).
import type { Component } from "svelte";
import { views as agents } from "../features/agents";
import { views as audit } from "../features/audit";
import { views as channels } from "../features/channels";
import { views as cron } from "../features/cron";
import { views as devices } from "../features/devices";
import { views as doctor } from "../features/doctor";
import { views as lan } from "../features/lan";
import { views as mcp } from "../features/mcp";
import { views as memory } from "../features/memory";
import { views as models } from "../features/models";
import { views as nodes } from "../features/nodes";
import { views as presence } from "../features/presence";
import { views as prompts } from "../features/prompts";
import { views as push } from "../features/push";
import { views as settings } from "../features/settings";
import type { Pane, PanePart } from "../features/settings/pane";
import { views as skills } from "../features/skills";
import { views as tasks } from "../features/tasks";
import { views as backup } from "../features/backup";
import { views as move } from "../features/move";
import { views as update } from "../features/update";
import { views as usage } from "../features/usage";
import type { PaneId } from "../shell/panels.svelte";
import type { Views } from "../ui/lazy.svelte";

// any: a part takes of PaneProps what it needs, which may be nothing.
const part = <M>(of: Views<M>, pick: (m: M) => Component<any>): PanePart => ({ of, view: () => (of.now ? pick(of.now) : undefined) });

export const panes: Record<PaneId, Pane> = {
  general: { icon: "sun", above: [part(settings, (v) => v.GeneralPane), part(push, (v) => v.Notices)] },
  models: { icon: "spark", below: [part(models, (v) => v.ModelsPane)] },
  assistants: { icon: "person", above: [part(agents, (v) => v.AssistantsPane), part(agents, (v) => v.Bindings)] },
  usage: { icon: "list", above: [part(usage, (v) => v.UsagePane)] },
  chat: { icon: "edit", below: [part(prompts, (v) => v.PromptsPane)] },
  people: {
    icon: "person",
    below: [
      part(lan, (v) => v.LanSwitch),
      part(devices, (v) => v.Devices),
      part(nodes, (v) => v.Nodes),
      part(channels, (v) => v.Contacts),
      part(presence, (v) => v.Present),
    ],
  },
  channels: { icon: "network", above: [part(channels, (v) => v.ChannelsPane)] },
  tools: { icon: "shield", below: [part(audit, (v) => v.SearchKey), part(audit, (v) => v.ToolsPane)] },
  skills: { icon: "tool", below: [part(skills, (v) => v.SkillsPane), part(mcp, (v) => v.Servers)] },
  memory: { icon: "file", below: [part(memory, (v) => v.MemoryPane)] },
  schedules: { icon: "clock", above: [part(cron, (v) => v.SchedulesPane)] },
  tasks: { icon: "list", above: [part(tasks, (v) => v.TasksPane)] },
  network: { icon: "globe", below: [part(lan, (v) => v.NetworkPane)] },
  health: {
    icon: "check",
    above: [part(update, (v) => v.Updates)],
    below: [part(doctor, (v) => v.HealthPane), part(backup, (v) => v.Backup), part(move, (v) => v.Move)],
  },
};
