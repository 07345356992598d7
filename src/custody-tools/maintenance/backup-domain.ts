import { createHash, createPublicKey } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { serviceLayout, userSideLayout } from '../../custody/domain-keys/layout.js'
import { refuseHalfRestored } from '../../custody/domain-keys/pending-restore.js'
import { writePublicFile } from '../../custody/domain-keys/private-file.js'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { openLmdb } from '../../disk/lmdb-file.js'
import { moveDurably } from '../../disk/put-file.js'
import { rawPublicKey } from '../../quorum-protocol/p256.js'

const BACKED_UP_STORES = ['shares', 'ledger', 'evidence'] as const

/**
 * `backup.json` identifies the backup. It is neither secret nor proof: the shares' seals are proof.
 */
const manifest = z.strictObject({
  domain: z.enum(['service', 'user']),
  /** Hex of the registry root's point, which identifies the installation. */
  root: z.string().regex(/^04[0-9a-f]{128}$/),
  made_at_ms: z.int(),
  /** SHA-256 of each store's file, in hex: a damaged copy is found before it is opened. */
  sha256: z.partialRecord(z.enum(BACKED_UP_STORES), z.string().regex(/^[0-9a-f]{64}$/)),
})
type BackupManifest = z.infer<typeof manifest>

/**
 * Copies one domain's custody stores, each consistent in itself, while the domain runs. The copies
 * are sealed; the wrapping key is not in them and must be kept separately. The copy gets its name
 * only when it is complete, so an interrupted one is never taken for a backup.
 * @param to a directory that does not exist yet
 * @throws Error that names the file and the reason
 */
export function backUpDomain(home: string, domain: 'service' | 'user', to: string): Promise<void> {
  return holding(
    () => lockMaintenance(home, domain, 'custody backup'),
    () => backUp(home, domain, to),
  )
}

async function backUp(home: string, domain: 'service' | 'user', to: string): Promise<void> {
  const layout = domain === 'service' ? serviceLayout(home) : userSideLayout(home)
  if (existsSync(to)) throw new Error(`${to} already exists`)
  refuseHalfRestored(layout)
  if (!existsSync(layout.shares)) throw new Error(`${layout.shares} does not exist`)
  const sha256: BackupManifest['sha256'] = {}
  const partial = `${to}.${process.pid}.partial`
  // The evidence is copied last, so that it covers everything in the stores before it.
  for (const store of BACKED_UP_STORES) {
    if (!existsSync(layout[store])) continue
    const target = join(partial, store)
    mkdirSync(target, { recursive: true, mode: 0o700 })
    const root = openLmdb({ path: layout[store], maxDbs: 16, readOnly: true })
    await root.backup(target, true)
    await root.close()
    sha256[store] = await sha256OfFile(join(target, 'data.mdb'))
  }
  const made: BackupManifest = {
    domain,
    root: rootOf(layout.rootKey),
    made_at_ms: Date.now(),
    sha256,
  }
  writePublicFile(join(partial, 'backup.json'), Buffer.from(`${JSON.stringify(made)}\n`))
  moveDurably(partial, to)
}

/** @throws Error that names the file */
export function readManifest(directory: string): BackupManifest {
  const path = join(directory, 'backup.json')
  if (!existsSync(path))
    throw new Error(`${path} is missing: ${directory} is not a complete backup`)
  try {
    return manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new Error(`${path} is malformed`, { cause })
  }
}

/** @throws Error that names the first file that is missing or has changed since the backup */
export async function requireIntact(directory: string, { sha256 }: BackupManifest): Promise<void> {
  for (const store of BACKED_UP_STORES) {
    const expected = sha256[store]
    if (expected === undefined) continue
    const path = join(directory, store, 'data.mdb')
    if (!existsSync(path)) throw new Error(`${path} is missing`)
    if ((await sha256OfFile(path)) !== expected) {
      throw new Error(`${path} has changed since the backup: its SHA-256 differs`)
    }
  }
}

/** @returns hex */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Returns the hex of the root's point that a domain pins. */
export function rootOf(rootKeyPath: string): string {
  return rawPublicKey(createPublicKey(readFileSync(rootKeyPath))).toString('hex')
}
