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
  /**
   * It contains everything from before this time and nothing after `ended_at_ms`, by this host's
   * clock.
   */
  began_at_ms: z.int(),
  ended_at_ms: z.int(),
  /** Hex of the registry root's point, which identifies the installation; null for `config`. */
  root: z
    .string()
    .regex(/^04[0-9a-f]{128}$/)
    .nullable(),
  /** Hex of the boot of the wallet service that last started there; null for the other parts. */
  boot: z.string().nullable(),
  /** The process that ran on it; null without one. */
  held_by: z.string().nullable(),
  /** True when the operator had frozen the whole domain. */
  frozen: z.boolean(),
  /** Private keys in files that are not in this backup. */
  keys_left_out: z.array(z.string()),
})
export type PartRecord = z.infer<typeof partRecord>

/** `backup.json` lists the content of a backup and its time. It is not secret. */
const manifest = z.strictObject({
  format: z.literal(FORMAT),
  /** The build that made it. */
  version: z.string(),
  /** The schema of the service's store. */
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
  if (!existsSync(path))
    throw new Error(`${path} is missing: ${directory} is not a complete backup`)
  try {
    return manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new Error(`${path} is malformed, or written by a build with another backup format`, {
      cause,
    })
  }
}
