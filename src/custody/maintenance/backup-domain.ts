import { createPublicKey } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { z } from 'zod'
import { serviceLayout, userSideLayout } from '../domain-keys/layout.js'
import { moveDurably, writePublicFile } from '../domain-keys/private-file.js'
import { rawPublicKey } from '../protocol/p256.js'

export const BACKED_UP_STORES = ['shares', 'ledger', 'evidence'] as const

/** `backup.json`: whose backup it is. Not secret, and not proof: the shares' seals are that. */
const manifest = z.strictObject({
  domain: z.enum(['service', 'user']),
  /** Hex of the registry root's point: tells one installation from another. */
  root: z.string().regex(/^04[0-9a-f]{128}$/),
  made_at_ms: z.int(),
})
export type BackupManifest = z.infer<typeof manifest>

/**
 * Copies one domain's custody stores, consistent each, while the domain runs. What it copies is
 * sealed; the wrapping key is not in it and must be kept elsewhere. The copy gets its name when it
 * is whole: an interrupted one is never taken for a backup.
 * @param to a directory that does not exist yet
 * @throws Error that names the file and the reason
 */
export async function backUpDomain(
  home: string,
  domain: 'service' | 'user',
  to: string,
): Promise<void> {
  const layout = domain === 'service' ? serviceLayout(home) : userSideLayout(home)
  if (existsSync(to)) throw new Error(`${to} exists already`)
  if (!existsSync(layout.shares)) throw new Error(`${layout.shares} does not exist`)
  const partial = `${to}.${process.pid}.partial`
  // Evidence last: it then covers whatever the stores before it hold.
  for (const store of BACKED_UP_STORES) {
    if (!existsSync(layout[store])) continue
    const target = join(partial, store)
    mkdirSync(target, { recursive: true, mode: 0o700 })
    const root = open({ path: layout[store], maxDbs: 16, readOnly: true })
    await root.backup(target, true)
    await root.close()
  }
  const made: BackupManifest = {
    domain,
    root: rootOf(layout.rootKey),
    made_at_ms: Date.now(),
  }
  writePublicFile(join(partial, 'backup.json'), Buffer.from(`${JSON.stringify(made)}\n`))
  moveDurably(partial, to)
}

/** @throws Error that names the file */
export function readManifest(directory: string): BackupManifest {
  const path = join(directory, 'backup.json')
  if (!existsSync(path)) throw new Error(`${path} is missing: ${directory} is not a whole backup`)
  try {
    return manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new Error(`${path} is malformed`, { cause })
  }
}

/** Hex of the point of the root that a domain pins. */
export function rootOf(rootKeyPath: string): string {
  return rawPublicKey(createPublicKey(readFileSync(rootKeyPath))).toString('hex')
}
