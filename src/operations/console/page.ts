import type { UserId } from '../../domain/ids.js'
import type { Reader } from '../../store/reader.js'

/** The default page size (CONTRACT.md, "Lists"). */
const LIMIT_DEFAULT = 25

interface Paged {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export function pageOptions(input: Paged): { limit: number; cursor: string | null } {
  return { limit: input.limit ?? LIMIT_DEFAULT, cursor: input.cursor ?? null }
}

/** A page of a user's keys, or of those whose names match. */
export function pageOfKeys(
  { keys }: Pick<Reader, 'keys'>,
  userId: UserId,
  input: Paged & { readonly search?: string | undefined },
) {
  const { search } = input
  const options = pageOptions(input)
  return search === undefined ? keys.ofUser(userId, options) : keys.named(userId, search, options)
}
