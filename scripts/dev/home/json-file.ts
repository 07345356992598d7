import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

/** A reader sees the old file or the new one, never half of one. */
export function writeJsonAtomically(path: string, value: unknown, mode = 0o644): void {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode })
  renameSync(temporary, path)
}

/**
 * @returns null when the file does not exist
 * @throws Error that names the file when it does not match; never quotes it, it may hold secrets
 */
export function readJsonFile<T>(path: string, schema: z.ZodType<T>): T | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${path} is not JSON`)
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}
