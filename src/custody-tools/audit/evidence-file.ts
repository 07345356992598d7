import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { openEvidenceReader } from '../../custody/evidence/evidence-log.js'
import { rawPublicKey } from '../../quorum-protocol/p256.js'
import type { Registry } from '../../quorum-protocol/registry.js'

/**
 * The format that the console reads (src/console/audit/verify): one JSON object per line, the
 * header first.
 */
const FORMAT = 'countersign-evidence/2'

export interface EvidencePlace {
  readonly log: 'service' | 'identity'
  /** An LMDB directory. */
  readonly path: string
}

/**
 * Writes whole logs, entry by entry as they are on disk, to a new file that only its owner can
 * read, because it shows who spent what and when. An incomplete file is removed.
 * @throws Error when the file exists already
 */
export async function writeEvidenceFile(
  path: string,
  registry: Registry,
  places: readonly EvidencePlace[],
): Promise<void> {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeLine(file, headerOf(registry))
    for (const place of places) {
      const log = openEvidenceReader(place.path)
      try {
        for (const { chain, index, bytes } of log.entries()) {
          const entry = base64(bytes)
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

/** Returns the header: all public keys that sign entries, and the root that signed the registry. */
function headerOf({ envelope, root }: Registry): object {
  const registry = {
    body: base64(envelope.body),
    signature: base64(envelope.signature),
    root: base64(rawPublicKey(root)),
  }
  return { format: FORMAT, registry }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

/** Writes the whole line: on a full disk, a plain write would silently write only its beginning. */
function writeLine(file: number, value: object): void {
  writeFileSync(file, `${JSON.stringify(value)}\n`)
}
