import { z } from 'zod'
import { readJsonFile } from './json-file.js'

/**
 * The operator's mail server for channels of the kind `email`. It has its own file, named by
 * `COUNTERSIGN_SMTP_FILE`, because it contains a password; without the file that kind does not
 * exist.
 */
export interface SmtpSettings {
  readonly host: string
  readonly port: number
  /**
   * `implicit` uses TLS from the first byte, `starttls` requires TLS, and `none` is for a local
   * relay.
   */
  readonly tls: 'implicit' | 'starttls' | 'none'
  readonly login: { readonly user: string; readonly password: string } | null
  /** The sender. */
  readonly from: string
  /** The lower-case domains to which mail may go; null for any. */
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

/** @throws as `readJsonFile` */
export function readSmtpFile(path: string): SmtpSettings {
  const { host, port, tls, user, password, from, recipient_domains } = readJsonFile(path, smtpFile)
  return {
    ...{ host, port, tls, from },
    login: user === undefined || password === undefined ? null : { user, password },
    recipientDomains: recipient_domains?.map((domain) => domain.toLowerCase()) ?? null,
  }
}
