/**
 * A policy during editing. Its JSON text is the only state, also for the form. The form changes one
 * field and leaves everything else unchanged, including what it has no field for.
 */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}
export type Path = readonly (string | number)[]

export type Draft =
  | { readonly ok: true; readonly value: JsonObject | null }
  | { readonly ok: false; readonly problem: string }

export function readDraft(text: string): Draft {
  let json: Json
  try {
    json = JSON.parse(text) as Json
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
  if (json === null || isObject(json)) return { ok: true, value: json }
  return { ok: false, problem: 'A policy is an object, or null for none.' }
}

export function writeDraft(value: JsonObject | null): string {
  return JSON.stringify(value, null, 2)
}

/**
 * @param value undefined to remove the field, or the element of a list
 * @returns a copy; parts of the wrong form on the way are replaced
 */
export function withField(root: Json | undefined, path: Path, value: Json | undefined): Json {
  const [name, ...rest] = path
  if (name === undefined) return value ?? null
  if (typeof name === 'number') {
    const list = Array.isArray(root) ? [...(root as readonly Json[])] : []
    if (rest.length === 0 && value === undefined) list.splice(name, 1)
    else list[name] = withField(list[name], rest, value)
    return list
  }
  const fields = isObject(root) ? { ...root } : {}
  if (rest.length === 0 && value === undefined) delete fields[name]
  else fields[name] = withField(fields[name], rest, value)
  return fields
}

export function field(root: Json | undefined, path: Path): Json | undefined {
  let at: Json | undefined = root
  for (const name of path) {
    if (typeof name === 'number') at = Array.isArray(at) ? (at as readonly Json[])[name] : undefined
    else at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}

export function listAt(root: Json | undefined, path: Path): readonly Json[] {
  const found = field(root, path)
  return Array.isArray(found) ? (found as readonly Json[]) : []
}

/** As a form field shows it. */
export function textAt(root: Json | undefined, path: Path): string {
  const found = field(root, path)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : ''
}

/** Swaps the element at `index` with the one before or after it. */
export function moved(list: readonly Json[], index: number, by: -1 | 1): readonly Json[] {
  const other = list[index + by]
  const own = list[index]
  if (own === undefined || other === undefined) return list
  return list.map((one, at) => (at === index ? other : at === index + by ? own : one))
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Rewrites a path of the service, such as `rules.0.when.to`, for people: `rules[0].when.to`. */
export function describePath(path: string): string {
  return path.replace(/^policy\.?/, '').replace(/\.?\b(\d+)\b/g, '[$1]') || 'the policy'
}
