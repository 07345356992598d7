import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { PARTITION_COUNT } from '../domain/partition.js'
import { QUOTA_DEFAULTS, QUOTAS_MAX, type Quotas } from '../domain/quotas.js'
import { DAY_MS, type Retention } from '../domain/retention.js'
import {
  GAS_BUDGET_USD_DEFAULTS,
  GAS_BUDGET_USD_MAX,
  type GasBudgets,
  gasBudgetsOf,
} from '../domain/sponsored-gas.js'
import {
  BYTES_PER_MIB,
  DISK_FLOOR_MIB,
  DISK_FLOOR_MIB_MAX,
  DISK_FLOOR_VARIABLE,
} from './disk-floor.js'
import { IDENTITY_LINK_VARIABLE } from './identity-link.js'
import { NODE_LINK_VARIABLE } from './node-link.js'
import { isRemoved, removedVariables } from './removed-variables.js'
import {
  NO_PROXIES,
  parseTrustedProxies,
  TRUSTED_PROXIES_FORM,
  TRUSTED_PROXIES_VARIABLE,
  type TrustedProxies,
} from './trusted-proxies.js'

/**
 * The process environment, read once and typed. It contains no secrets: keys are in files under
 * `COUNTERSIGN_HOME` or in a KMS, because an environment is inherited, dumped and logged.
 */

const PREFIX = 'COUNTERSIGN_'
const HOUR_MS = 3_600_000

/** A TCP port; 0 picks a free one. */
const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be at most 65535')

const count = (max: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,6}$/, 'must be a whole number, at least 1')
    .transform(Number)
    .refine((value) => value <= max, `must be at most ${max}`)

/** A span in days, or null for `forever`. */
const days = z
  .string()
  .regex(/^([1-9]\d{0,4}|forever)$/, 'must be a number of days, or forever')
  .transform((text) => (text === 'forever' ? null : Number(text) * DAY_MS))

/** Half a minute of following, at the ten megabytes a second at which entries are applied. */
export const JOURNAL_TAIL_MIB = 256

/** A span in hours, or null for `never`. */
const hours = z
  .string()
  .regex(/^(\d{1,5}(\.\d{1,4})?|never)$/, 'must be a number of hours, or never')
  .transform((text) => (text === 'never' ? null : Number(text) * HOUR_MS))
  .refine((value) => value !== 0, 'must be more than nothing')

const variables = z.object({
  PORT: port.default(8_080),
  HOST: z.string().min(1).max(255).default('127.0.0.1'),
  METRICS_PORT: port.optional(),
  COUNTERSIGN_PUBLIC_HOSTS: z
    .string()
    .max(2_048)
    .regex(/^[A-Za-z0-9.-]+(,[A-Za-z0-9.-]+)*$/, 'must be host names, separated by commas')
    .optional(),
  // The identity provider reads this variable too.
  [TRUSTED_PROXIES_VARIABLE]: z
    .string()
    .transform(parseTrustedProxies)
    .refine((proxies) => proxies !== null, TRUSTED_PROXIES_FORM)
    .default(NO_PROXIES),
  COUNTERSIGN_MCP_SUB_KEYS: z.enum(['on', 'off']).default('off'),
  IDENTITY_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
  IDENTITY_JWKS_URL: z.url({ protocol: /^https?$/ }).optional(),
  COUNTERSIGN_HOME: z.string().min(1).max(4_096).default('./.countersign'),
  // The identity provider reads this variable too.
  [DISK_FLOOR_VARIABLE]: count(DISK_FLOOR_MIB_MAX).default(DISK_FLOOR_MIB),
  // Read where the keys are opened; listed here so that it counts as known.
  COUNTERSIGN_ALLOW_FILE_KEYS: z.literal('1').optional(),
  COUNTERSIGN_MODE: z.enum(['dev', 'live']).default('live'),
  COUNTERSIGN_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info'),
  // Another thread would have no partition to write.
  COUNTERSIGN_WORKERS: count(PARTITION_COUNT).default(workersFor(availableParallelism())),
  COUNTERSIGN_RATE_PER_SECOND: count(1_000_000).default(200),
  // A bound for one user's share of the deliveries, not a target.
  COUNTERSIGN_EVENTS_PER_SECOND: count(100_000).default(1_000),
  COUNTERSIGN_OTEL_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  COUNTERSIGN_SMTP_FILE: z.string().min(1).max(4_096).optional(),
  [IDENTITY_LINK_VARIABLE]: z.string().min(1).max(4_096).optional(),
  COUNTERSIGN_JOURNAL_FILE: z.string().min(1).max(4_096).optional(),
  COUNTERSIGN_JOURNAL_ROLE: z.enum(['owner', 'standby']).default('owner'),
  [NODE_LINK_VARIABLE]: z.string().min(1).max(4_096).optional(),
  COUNTERSIGN_JOURNAL_TAIL_MIB: count(1_048_576).default(JOURNAL_TAIL_MIB),
  // Spec silent. Past deliveries help while a receiver is repaired; events and the audit trail
  // are // records, which only their owner may discard.
  COUNTERSIGN_RETAIN_DELIVERIES_DAYS: days.default(30 * DAY_MS),
  COUNTERSIGN_RETAIN_EVENTS_DAYS: days.default(null),
  COUNTERSIGN_RETAIN_AUDIT_DAYS: days.default(null),
  COUNTERSIGN_UNDELEGATE_HOURS: hours.default(null),
  COUNTERSIGN_GAS_WALLET_DAY_USD: count(GAS_BUDGET_USD_MAX).default(GAS_BUDGET_USD_DEFAULTS.wallet),
  COUNTERSIGN_GAS_USER_DAY_USD: count(GAS_BUDGET_USD_MAX).default(GAS_BUDGET_USD_DEFAULTS.user),
  COUNTERSIGN_QUOTA_WALLETS: count(QUOTAS_MAX.wallets).default(QUOTA_DEFAULTS.wallets),
  COUNTERSIGN_QUOTA_KEYS: count(QUOTAS_MAX.keys).default(QUOTA_DEFAULTS.keys),
  COUNTERSIGN_QUOTA_WEBHOOKS: count(QUOTAS_MAX.webhooks).default(QUOTA_DEFAULTS.webhooks),
  COUNTERSIGN_QUOTA_ADDRESS_RULES: count(QUOTAS_MAX.rules).default(QUOTA_DEFAULTS.rules),
})

/** The description is in `variables.ts`. */
export type ServiceVariable = keyof typeof variables.shape
export const SERVICE_VARIABLES: readonly string[] = Object.keys(variables.shape)

/**
 * Spec silent: the front end and the two other domains each keep a core busy, and the shards have
 * the rest. One thread keeps both of the quorum's batches in flight, so fewer cores need no second
 * thread.
 */
export function workersFor(cores: number): number {
  return Math.min(16, Math.max(1, cores - 3))
}

export interface Config {
  readonly mode: 'dev' | 'live'
  /** Keys of the other environment are refused. */
  readonly environment: 'test' | 'live'
  /** Directory of all data; relative to the working directory unless absolute. */
  readonly home: string
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** The names by which MCP clients may reach this service; null for loopback only. */
  readonly publicHosts: readonly string[] | null
  /** The proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: TrustedProxies
  /** Whether agents with `may_delegate` get an MCP tool that makes keys, in addition to REST. */
  readonly mcpSubKeys: boolean
  /** Null when no metrics are served. */
  readonly metricsPort: number | null
  /** The OIDC issuer of console tokens; null refuses every token on console routes. */
  readonly identityIssuer: string | null
  /**
   * The URL of the issuer's keys; null for `/jwks` below the issuer, where the identity provider
   * has them.
   */
  readonly identityJwksUrl: string | null
  readonly logLevel: string
  /** The number of threads for actor shards. */
  readonly workers: number
  /** The requests per second of a key with its sub-keys, and of a console user. */
  readonly requestsPerSecond: number
  /** With less free space nothing new is written. */
  readonly diskFloorBytes: number
  /** The events that each thread delivers to each user's webhooks per second. */
  readonly deliveriesPerSecond: number
  /** The OTLP/HTTP collector of traces; null sends none. */
  readonly otelEndpoint: string | null
  /** A JSON file that names a mail server (`smtp.ts`); null sends no mail. */
  readonly smtpFile: string | null
  /**
   * A JSON file with the link to an identity provider on another machine (`identity-link.ts`); null
   * for its socket.
   */
  readonly identityLinkFile: string | null
  /** A JSON file that names the journal's engine (`journal.ts`); null stores commits only here. */
  readonly journalFile: string | null
  /** `standby` takes over only once the leader is silent or leaves. */
  readonly journalRole: 'owner' | 'standby'
  /**
   * A JSON file with the link between a journal's nodes (`node-link.ts`); null when they have none.
   */
  readonly nodeLinkFile: string | null
  /** The size of entries after the last snapshot above which the next one is made. */
  readonly journalTailBytes: number
  /** The quotas of each user. */
  readonly quotas: Quotas
  readonly retention: Retention
  /**
   * How long after the last sponsored call an account's delegation is ended; null never ends it.
   */
  readonly undelegateAfterMs: number | null
  /** What the operator pays for sponsored gas per day. */
  readonly gasBudgets: GasBudgets
}

interface ReadConfig {
  readonly config: Config
  /** Sentences for the log about variables that are no longer settings, or never were. */
  readonly warnings: readonly string[]
}

/** @throws Error that names each offending variable and never repeats its value */
export function readConfig(env: Readonly<Record<string, string | undefined>>): ReadConfig {
  const parsed = variables.safeParse(withoutEmpty(env))
  if (!parsed.success) {
    const lines = parsed.error.issues.map((i) => `  ${i.path.join('.')}: ${i.message}`)
    throw new Error(`the environment is not usable:\n${lines.join('\n')}`)
  }
  const values = parsed.data
  const config: Config = {
    mode: values.COUNTERSIGN_MODE,
    environment: values.COUNTERSIGN_MODE === 'dev' ? 'test' : 'live',
    home: values.COUNTERSIGN_HOME,
    host: values.HOST,
    port: values.PORT,
    publicHosts: values.COUNTERSIGN_PUBLIC_HOSTS?.split(',') ?? null,
    trustedProxies: values[TRUSTED_PROXIES_VARIABLE] ?? NO_PROXIES,
    mcpSubKeys: values.COUNTERSIGN_MCP_SUB_KEYS === 'on',
    metricsPort: values.METRICS_PORT ?? null,
    identityIssuer: values.IDENTITY_ISSUER ?? null,
    identityJwksUrl: values.IDENTITY_JWKS_URL ?? null,
    logLevel: values.COUNTERSIGN_LOG_LEVEL,
    workers: values.COUNTERSIGN_WORKERS,
    requestsPerSecond: values.COUNTERSIGN_RATE_PER_SECOND,
    diskFloorBytes: values[DISK_FLOOR_VARIABLE] * BYTES_PER_MIB,
    deliveriesPerSecond: values.COUNTERSIGN_EVENTS_PER_SECOND,
    otelEndpoint: values.COUNTERSIGN_OTEL_ENDPOINT ?? null,
    smtpFile: values.COUNTERSIGN_SMTP_FILE ?? null,
    identityLinkFile: values[IDENTITY_LINK_VARIABLE] ?? null,
    journalFile: values.COUNTERSIGN_JOURNAL_FILE ?? null,
    journalRole: values.COUNTERSIGN_JOURNAL_ROLE,
    nodeLinkFile: values[NODE_LINK_VARIABLE] ?? null,
    journalTailBytes: values.COUNTERSIGN_JOURNAL_TAIL_MIB * BYTES_PER_MIB,
    quotas: {
      wallets: values.COUNTERSIGN_QUOTA_WALLETS,
      keys: values.COUNTERSIGN_QUOTA_KEYS,
      webhooks: values.COUNTERSIGN_QUOTA_WEBHOOKS,
      rules: values.COUNTERSIGN_QUOTA_ADDRESS_RULES,
    },
    retention: {
      deliveriesMs: values.COUNTERSIGN_RETAIN_DELIVERIES_DAYS,
      eventsMs: values.COUNTERSIGN_RETAIN_EVENTS_DAYS,
      auditMs: values.COUNTERSIGN_RETAIN_AUDIT_DAYS,
    },
    gasBudgets: gasBudgetsOf({
      wallet: values.COUNTERSIGN_GAS_WALLET_DAY_USD,
      user: values.COUNTERSIGN_GAS_USER_DAY_USD,
    }),
    undelegateAfterMs: values.COUNTERSIGN_UNDELEGATE_HOURS,
  }
  const names = Object.keys(env)
  return { config, warnings: [...removedVariables(names), ...unknownVariables(names)] }
}

/** `PORT=` in a unit file means unset, not the empty string. */
function withoutEmpty(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => (entry[1] ?? '') !== ''),
  )
}

function unknownVariables(names: readonly string[]): string[] {
  return names
    .filter((name) => name.startsWith(PREFIX))
    .filter((name) => !SERVICE_VARIABLES.includes(name) && !isRemoved(name))
    .map((name) => {
      const near = closest(name, SERVICE_VARIABLES)
      return `${name} is not a variable of this service${near === null ? '' : `; did you mean ${near}?`}`
    })
}

/** The number of edits up to which two names count as a typing mistake. */
const EDITS_MAX = 3
const NAME_CHARS_MAX = 64

function closest(name: string, known: readonly string[]): string | null {
  if (name.length > NAME_CHARS_MAX) return null
  const ranked = known
    .map((candidate) => ({ candidate, edits: editDistance(name, candidate) }))
    .sort((a, b) => a.edits - b.edits)
  const best = ranked[0]
  return best !== undefined && best.edits <= EDITS_MAX ? best.candidate : null
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
