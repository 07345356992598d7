/** Page size when none is asked for (CONTRACT.md, "Lists"). */
const LIMIT_DEFAULT = 25

export function pageOptions(input: {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}): { limit: number; cursor: string | null } {
  return { limit: input.limit ?? LIMIT_DEFAULT, cursor: input.cursor ?? null }
}
