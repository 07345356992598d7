import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { PARTS } from './parts.js'

/** Raised by every change of what a backup's directory is. */
const FORMAT = 1

const fileRecord = z.strictObject({
  part: z.enum(PARTS),
  /** From the home; below the backup's directory it is the same. Never out of it. */
  path: z
    .string()
    .max(1_024)
    .regex(/^(?!\/)(?!.*(^|\/)\.\.(\/|$))[^\\]+$/),
  kind: z.enum(['lmdb', 'file']),
  /** A private key or password in clear. */
  secret: z.boolean(),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
export type FileRecord = z.infer<typeof fileRecord>

const partRecord = z.strictObject({
  name: z.enum(PARTS),
  /** What happened before is in it, and nothing of after `ended_at_ms`; by this host's clock. */
  began_at_ms: z.int(),
  ended_at_ms: z.int(),
  /** Hex of the registry root's point: tells one installation from another. Null of `config`. */
  root: z
    .string()
    .regex(/^04[0-9a-f]{128}$/)
    .nullable(),
  /** Hex; of the wallet service that last started there. Null of the other parts. */
  boot: z.string().nullable(),
  /** Who ran on it; null: nobody did. */
  held_by: z.string().nullable(),
  /** The operator's freeze of the whole domain was on. */
  frozen: z.boolean(),
  /** Private keys that lie in files, and are not in this backup. */
  keys_left_out: z.array(z.string()),
})
export type PartRecord = z.infer<typeof partRecord>

/** `backup.json`: what a backup has, and of what moment. Not secret. */
const manifest = z.strictObject({
  format: z.literal(FORMAT),
  /** Of the build that made it. */
  version: z.string(),
  /** Of the service's store. */
  schema_version: z.int(),
  made_at: z.iso.datetime(),
  parts: z.array(partRecord).min(1),
  files: z.array(fileRecord),
})
export type Manifest = z.infer<typeof manifest>

export const MANIFEST_FILE = 'backup.json'

export function newManifest(rest: Omit<Manifest, 'format'>): Manifest {
  return { format: FORMAT, ...rest }
}

/** @throws Error that names the file */
export function readManifest(directory: string): Manifest {
  const path = join(directory, MANIFEST_FILE)
  if (!existsSync(path)) throw new Error(`${path} is missing: ${directory} is not a whole backup`)
  try {
    return manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new Error(`${path} is malformed, or of a build with another form of backups`, { cause })
  }
}
