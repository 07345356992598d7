import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { z } from 'zod'
import { requireOwnersAlone } from './json-file.js'

/**
 * The operator's screening settings besides the lists: `screening.json` in the home, which is
 * optional. It uses wire names because operators write it.
 */
const webUrl = z.url({ protocol: /^https?$/ }).max(2_048)

const provider = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'lower-case letters, digits and hyphens, at most 32'),
  /** The URL of a service that answers like Chainalysis' sanctions API. */
  base_url: webUrl,
  /** A file that contains only the API key, mode 0600; relative to the home unless absolute. */
  api_key_file: z.string().min(1).max(4_096),
  /** `sanctions` is final; a user's allow entry overrides `risk`. */
  kind: z.enum(['sanctions', 'risk']),
  /** The effect of a missing answer: `stop` writes, or continue without it (`skip`). */
  when_unavailable: z.enum(['stop', 'skip']),
  timeout_ms: z.int().min(100).max(10_000).default(2_000),
})

const download = z.strictObject({
  source: z.enum(['ofac', 'uk', 'eu', 'file']),
  url: webUrl,
  /** The list's name; by default the source's. */
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/)
    .optional(),
  /**
   * Hosts besides the URL's own that may serve the list, because publishers redirect to their
   * storage.
   */
  redirect_hosts: z
    .array(
      z
        .string()
        .max(260)
        .regex(
          /^[a-z0-9][a-z0-9.-]*(:\d{1,5})?$/,
          'a host in lower case, with its port if it has one',
        ),
    )
    .max(4)
    .optional(),
})

const screeningFile = z.strictObject({
  providers: z.array(provider).max(4).default([]),
  /** The sources of `lists update`; by default OFAC's own export. */
  downloads: z.array(download).min(1).max(16).optional(),
})

export type ScreeningFile = z.infer<typeof screeningFile>

/** @throws Error that names the file and each offending path */
export function readScreeningFile(home: string): ScreeningFile {
  const path = join(home, 'screening.json')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { providers: [] }
    throw error
  }
  const parsed = screeningFile.safeParse(parseJson(text, path))
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

const API_KEY_CHARS_MAX = 1_024

/** @throws Error when others may read the file, or it contains no key */
export function readApiKey(home: string, file: string): string {
  const path = isAbsolute(file) ? file : join(home, file)
  requireOwnersAlone(path)
  const key = readFileSync(path, 'utf8').trim()
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > API_KEY_CHARS_MAX) {
    throw new Error(`${path} holds no API key`)
  }
  return key
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${path} is no JSON`, { cause })
  }
}
