import { watchPath } from '../disk/watch-path.js'

const LOOK_EVERY_MS = 1_000

export interface Followed<Taken> {
  /** @throws Error when the files, as they are, are of no use */
  readonly take: () => Taken
  readonly taken: (what: Taken) => void
  /** Once for each reason that stands for two looks: of two files one comes after the other. */
  readonly refused: (reason: string) => void
}

/**
 * Takes up files that belong together whenever one of them is replaced, and again until they are of use:
 * a mode that is put right does not show as another file.
 * @returns ends the watch
 */
export function followFiles<Taken>(
  paths: readonly string[],
  { take, taken, refused }: Followed<Taken>,
): () => void {
  let again: NodeJS.Timeout | undefined
  let last: string | null = null
  let told: string | null = null

  function look(): void {
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
      again = setTimeout(look, LOOK_EVERY_MS)
      again.unref()
    }
  }

  const watches = paths.map((path) => watchPath(path, LOOK_EVERY_MS, look))
  return () => {
    clearTimeout(again)
    for (const unwatch of watches) unwatch()
  }
}
