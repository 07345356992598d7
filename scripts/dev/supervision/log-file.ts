import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs'

/** A log larger than this is renamed to `*.log.1` at a start. */
const LOG_BYTES_MAX = 16 * 1024 * 1024
const TAIL_BYTES = 8 * 1024

/**
 * Opens a log to append to. Children write to the descriptor itself instead of a pipe, so their
 * last lines survive the supervisor.
 */
export function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOG_BYTES_MAX) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Returns the last lines.
 * @param fromByte the size at the process's start, because earlier lines belong to another process
 */
export function tailLog(path: string, lineCount: number, fromByte: number): string[] {
  const descriptor = openSync(path, 'r')
  try {
    const size = fstatSync(descriptor).size
    const start = Math.max(size - TAIL_BYTES, fromByte, 0)
    const buffer = Buffer.alloc(Math.max(size - start, 0))
    readSync(descriptor, buffer, 0, buffer.length, start)
    return buffer.toString('utf8').trimEnd().split('\n').slice(-lineCount)
  } finally {
    closeSync(descriptor)
  }
}
