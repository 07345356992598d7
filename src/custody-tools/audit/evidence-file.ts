import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { openEvidenceReader } from '../../custody/evidence/evidence-log.js'

/** What the console reads (src/console/audit/verify): one JSON object a line, this one first. */
const HEADER = { format: 'countersign-evidence/1' }

export interface EvidencePlace {
  readonly log: 'service' | 'identity'
  /** LMDB directory. */
  readonly path: string
}

/**
 * Writes whole logs, entry by entry as they are on disk, to a new file that only its owner can read:
 * who spent what, and when, is in it. One that is not whole is taken away.
 * @throws Error when there is such a file already
 */
export async function writeEvidenceFile(
  path: string,
  places: readonly EvidencePlace[],
): Promise<void> {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeLine(file, HEADER)
    for (const place of places) {
      const log = openEvidenceReader(place.path)
      try {
        for (const { chain, index, bytes } of log.entries()) {
          const entry = Buffer.from(bytes).toString('base64')
          writeLine(file, { log: place.log, chain, index, entry })
        }
      } finally {
        await log.close()
      }
    }
    fsyncSync(file)
  } catch (error) {
    rmSync(path)
    throw error
  } finally {
    closeSync(file)
  }
}

/** All of it: a disk that fills up takes the beginning of a line without a word. */
function writeLine(file: number, value: object): void {
  writeFileSync(file, `${JSON.stringify(value)}\n`)
}
