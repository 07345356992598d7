import { readFileSync, statSync } from 'node:fs'
import type { z } from 'zod'

/**
 * Reads settings from their own file, because they contain passwords.
 * @throws Error for a file that others may read, or one that names each offending field and never
 * repeats its value
 */
export function readJsonFile<Settings>(path: string, schema: z.ZodType<Settings>): Settings {
  const parsed = schema.safeParse(parsedJson(path))
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map(
    ({ path: at, message }) => `  ${at.join('.') || 'the file'}: ${message}`,
  )
  throw new Error(`${path} is not usable:\n${lines.join('\n')}`)
}

function parsedJson(path: string): unknown {
  requireOwnersAlone(path)
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the text around the mistake, which may be the password.
    throw new Error(`${path} is not JSON`)
  }
}

const OTHERS_MASK = 0o077

/** @throws Error */
export function requireOwnersAlone(path: string): void {
  if ((statSync(path).mode & OTHERS_MASK) !== 0) throw new Error(`${path} must have mode 0600`)
}
