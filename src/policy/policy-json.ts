/** JSON in its wire form. */
export type PolicyJson =
  | string
  | number
  | boolean
  | null
  | readonly PolicyJson[]
  | { readonly [name: string]: PolicyJson }

/** Sorts the fields and removes absent ones. */
export function sorted(fields: { readonly [name: string]: PolicyJson | undefined }): {
  readonly [name: string]: PolicyJson
} {
  const entries = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
