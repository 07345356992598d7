import { readFileSync } from 'node:fs'
import { z } from 'zod'

/**
 * The operator's mail server, by which channels of the kind `email` are told. In a file of its own,
 * named by `COUNTERSIGN_SMTP_FILE`, since it holds a password; without one there is no such kind.
 */
export interface SmtpSettings {
  readonly host: string
  readonly port: number
  /** `implicit`: TLS from the first byte; `starttls`: TLS or nothing; `none`: a relay at hand. */
  readonly tls: 'implicit' | 'starttls' | 'none'
  readonly login: { readonly user: string; readonly password: string } | null
  /** The sender. */
  readonly from: string
  /** Lower-case domains that mail may go to; null: any. */
  readonly recipientDomains: readonly string[] | null
}

const DOMAINS_MAX = 100
const DOMAIN = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/

const smtpFile = z
  .strictObject({
    host: z.string().min(1).max(255),
    port: z.int().min(1).max(65_535),
    tls: z.enum(['implicit', 'starttls', 'none']),
    user: z.string().min(1).max(255).optional(),
    password: z.string().min(1).max(1_024).optional(),
    from: z.email().max(255),
    recipient_domains: z.array(z.string().regex(DOMAIN)).min(1).max(DOMAINS_MAX).optional(),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    error: 'needs user and password, or neither',
  })
  .refine(({ user, tls }) => user === undefined || tls !== 'none', {
    error: 'sends no password without TLS',
  })

/** @throws Error that names each offending field and never repeats its value */
export function readSmtpFile(path: string): SmtpSettings {
  const parsed = smtpFile.safeParse(parsedJson(path))
  if (!parsed.success) {
    const lines = parsed.error.issues.map(
      ({ path: at, message }) => `  ${at.join('.') || 'the file'}: ${message}`,
    )
    throw new Error(`${path} is not usable:\n${lines.join('\n')}`)
  }
  const { host, port, tls, user, password, from, recipient_domains } = parsed.data
  return {
    ...{ host, port, tls, from },
    login: user === undefined || password === undefined ? null : { user, password },
    recipientDomains: recipient_domains?.map((domain) => domain.toLowerCase()) ?? null,
  }
}

function parsedJson(path: string): unknown {
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own words show what is around the slip, which may be the password.
    throw new Error(`${path} is not JSON`)
  }
}
