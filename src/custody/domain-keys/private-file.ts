import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Files that only their domain's user may read. */
const PRIVATE_MODE = 0o600
const OTHERS_MASK = 0o077

/** @throws Error when it is missing, or readable by anybody else */
export function readPrivateFile(path: string): Buffer {
  if ((statSync(path).mode & OTHERS_MASK) !== 0) {
    throw new Error(`${path} must have mode 0600: others could read it`)
  }
  return readFileSync(path)
}

/** Durable before it returns; a crash leaves the old file or the new one, never half of it. */
export function writePrivateFile(path: string, content: Uint8Array): void {
  writeDurably(path, content, PRIVATE_MODE)
}

export function writePublicFile(path: string, content: Uint8Array): void {
  writeDurably(path, content, 0o644)
}

/** Puts one file or directory in the place of another, durable on return. */
export function moveDurably(from: string, to: string): void {
  renameSync(from, to)
  syncDirectory(dirname(to))
}

function writeDurably(path: string, content: Uint8Array, mode: number): void {
  const directory = dirname(path)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}.new`
  const file = openSync(temporary, 'w', mode)
  try {
    // Whatever the umask is, which a process's own files are made under.
    fchmodSync(file, mode)
    writeSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
  syncDirectory(directory)
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** Writes the file once: what is there already is left alone. */
export function ensurePrivateFile(path: string, make: () => Uint8Array): void {
  if (!existsSync(path)) writePrivateFile(path, make())
}
