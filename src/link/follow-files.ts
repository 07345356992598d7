import { watchPath } from '../disk/watch-path.js'

const POLL_MS = 1_000

export interface Followed<Taken> {
  /** @throws Error when the present files are unusable */
  readonly take: () => Taken
  readonly taken: (what: Taken) => void
  /**
   * Called once per reason that lasts for two polls, because related files are replaced one after
   * the other.
   */
  readonly refused: (reason: string) => void
}

/**
 * Loads related files whenever one of them is replaced, and retries until they are usable: a
 * corrected mode does not look like a new file.
 * @returns a function that stops polling
 */
export function followFiles<Taken>(
  paths: readonly string[],
  { take, taken, refused }: Followed<Taken>,
): () => void {
  let again: NodeJS.Timeout | undefined
  let last: string | null = null
  let told: string | null = null

  function poll(): void {
    clearTimeout(again)
    try {
      taken(take())
      last = null
      told = null
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (reason === last && reason !== told) {
        refused(reason)
        told = reason
      }
      last = reason
      again = setTimeout(poll, POLL_MS)
      again.unref()
    }
  }

  const watches = paths.map((path) => watchPath(path, POLL_MS, poll))
  return () => {
    clearTimeout(again)
    for (const unwatch of watches) unwatch()
  }
}
