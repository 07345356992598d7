import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { putFile } from '../../disk/put-file.js'

/** The mode of files that only their domain's user may read. */
const PRIVATE_MODE = 0o600
const PUBLIC_MODE = 0o644
const OTHERS_MASK = 0o077

/** @throws Error when it is missing, or other users can read it */
export function readPrivateFile(path: string): Buffer {
  if ((statSync(path).mode & OTHERS_MASK) !== 0) {
    throw new Error(`${path} must have mode 0600: others could read it`)
  }
  return readFileSync(path)
}

/** Durable before it returns; a crash leaves the old file or the new one, never half of it. */
export function writePrivateFile(path: string, content: Uint8Array): void {
  makeDirectory(path)
  putFile(path, content, PRIVATE_MODE)
}

export function writePublicFile(path: string, content: Uint8Array): void {
  makeDirectory(path)
  putFile(path, content, PUBLIC_MODE)
}

function makeDirectory(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
}

/** Writes the file once; an existing file stays as it is. */
export function ensurePrivateFile(path: string, make: () => Uint8Array): void {
  if (!existsSync(path)) writePrivateFile(path, make())
}
