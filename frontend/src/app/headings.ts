// What stands in the panes of the settings beside their fields, so that the search
// of the settings finds it by its words. They come with the settings.
import { t as agents } from "../features/agents/words";
import { t as audit } from "../features/audit/words";
import { t as backup } from "../features/backup/words";
import { t as channels } from "../features/channels/words";
import { t as cron } from "../features/cron/words";
import { t as devices } from "../features/devices/words";
import { t as doctor } from "../features/doctor/words";
import { t as lan } from "../features/lan/words";
import { t as mcp } from "../features/mcp/words";
import { t as memory } from "../features/memory/words";
import { t as models } from "../features/models/words";
import { t as move } from "../features/move/words";
import { t as nodes } from "../features/nodes/words";
import { t as presence } from "../features/presence/words";
import { t as prompts } from "../features/prompts/words";
import { t as push } from "../features/push/words";
import { t as secrets } from "../features/secrets/words";
import type { Heading } from "../features/settings/pane";
import { t as settings } from "../features/settings/words";
import { t as skills } from "../features/skills/words";
import { t as tasks } from "../features/tasks/words";
import { t as update } from "../features/update/words";
import { t as usage } from "../features/usage/words";
import { languages } from "../i18n/words.svelte";
import type { PaneId } from "../shell/panels.svelte";

/** at is a heading; it is found by its words, those of what stands below it, and the names of all these. */
const at = <K extends string>(t: (key: K) => string, key: K, ...below: K[]): Heading => {
  const keys = [key, ...below];
  return { name: t(key), words: [...keys, ...keys.map((k) => t(k))].join("\n") };
};

const own = (): Heading => {
  const h = at(settings, "general.language", "general.language.what");
  return { ...h, words: [h.words, ...Object.values(languages)].join("\n") };
};

const all: Record<PaneId, () => Heading[]> = {
  general: () => [
    at(settings, "general.theme", "general.theme.what", "general.theme.system", "general.theme.light", "general.theme.dark"),
    own(),
    at(push, "title", "what", "level", "kinds", "quiet"),
  ],
  models: () => [
    at(models, "models.accounts", "models.type.api_key", "models.type.oauth", "models.type.token"),
    at(secrets, "title", "vault", "passphrase", "plain", "kept.keychain", "kept.vault"),
    at(models, "models.found"),
    at(models, "server.own"),
    at(models, "server.add", "server.what", "server.address", "server.key"),
    at(models, "models.add", "models.add.what", "models.key", "models.service"),
    at(models, "models.list", "models.setup", "models.setup.what"),
    at(models, "fallbacks"),
  ],
  assistants: () => [
    at(agents, "add", "add.what", "name", "emoji", "picture", "theme", "model", "tools", "skills"),
    at(agents, "bind", "bind.add"),
  ],
  usage: () => [at(usage, "usage.today"), at(usage, "usage.month"), at(usage, "usage.by")],
  chat: () => [at(prompts, "title", "what", "add")],
  people: () => [
    at(lan, "people.lan", "people.lan.on", "people.lan.what"),
    at(devices, "devices.title"),
    at(devices, "devices.add"),
    at(nodes, "nodes.title"),
    at(channels, "people.contacts"),
    at(presence, "people.here"),
  ],
  channels: () => [],
  tools: () => [at(audit, "tools.more"), at(audit, "tools.pause")],
  skills: () => [at(skills, "skills.skills"), at(skills, "skills.install"), at(mcp, "skills.mcp", "mcp.add", "mcp.add.what")],
  memory: () => [at(memory, "memory.open")],
  schedules: () => [at(cron, "list")],
  tasks: () => [at(tasks, "open"), at(tasks, "over")],
  network: () => [
    at(lan, "network.who"),
    at(lan, "network.known", "network.known.what", "network.cert", "network.pin", "network.found"),
    at(lan, "network.tokens", "network.tokens.what", "network.create"),
  ],
  health: () => [
    at(update, "update.title"),
    at(doctor, "health.facts"),
    at(doctor, "health.data"),
    at(doctor, "health.bundle.label"),
    at(doctor, "health.log"),
    at(doctor, "health.raw"),
    at(backup, "backup.title"),
    at(move, "move.title"),
  ],
};

/** headings are those of a pane. */
export const headings = (pane: PaneId): Heading[] => all[pane]();
