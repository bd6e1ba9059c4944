// An assistant as the settings say it (agents.list), as far as the page changes it.
export interface Entry {
  id: string;
  name?: string;
  identity?: { name?: string; emoji?: string; theme?: string; avatar?: string };
  model?: string | { primary?: string; fallbacks?: string[] };
  skills?: string[];
  tools?: { profile?: string };
}

/** modelOf is its own model, "" = as for all. */
export const modelOf = (e: Entry): string => (typeof e.model === "string" ? e.model : (e.model?.primary ?? ""));

/** face is what stands for an assistant beside its words: an emoji or two letters, as people see them, and no more. */
export const face = (s: string): string =>
  [...new Intl.Segmenter().segment(s.trim())].slice(0, 2).map((c) => c.segment).join("").trim();

/** asked is an entry with what a person asked for; whatever else stands in it stays. */
export function asked(now: Entry, e: Entry): Entry {
  const { model: _m, skills: _s, tools, identity, ...rest } = now;
  const model = modelOf(e);
  const { profile: _p, ...otherTools } = tools ?? {};
  const profile = e.tools?.profile;
  const own = { ...otherTools, ...(profile ? { profile } : {}) };
  const shown = { ...identity, ...(e.identity?.name ? { name: e.identity.name } : {}) };
  for (const key of ["emoji", "theme", "avatar"] as const) {
    if (key === "avatar" && e.identity?.avatar === undefined) continue;
    if (e.identity?.[key]) shown[key] = e.identity[key];
    else delete shown[key];
  }
  return {
    ...rest,
    identity: shown,
    ...(model ? { model: typeof now.model === "object" ? { ...now.model, primary: model } : model } : {}),
    ...(e.skills ? { skills: e.skills } : {}),
    ...(Object.keys(own).length > 0 ? { tools: own } : {}),
  };
}
