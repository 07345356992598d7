import { type DestinationStream, type Logger, pino } from 'pino'

/**
 * The JSON log of a process. Redaction is the second line: the first is that secrets are not
 * handed to the logger at all.
 */

const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'secret',
  'token',
  'consoleToken',
  'password',
  'passphrase',
  'proofKey',
  'privateKey',
  'rawTransaction',
] as const
const SECRET_HEADERS = ['["x-api-key"]', '["set-cookie"]'] as const

/** Each name at the root of a record and one and two levels down (pino has no deep wildcard). */
const REDACTED_PATHS = [
  ...SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  ...SECRET_HEADERS.flatMap((name) => [name, `*${name}`, `*.*${name}`]),
]

export interface LoggerOptions {
  /** Which process speaks: `service`, `identity-provider`, `quorum-signer`. */
  readonly name: string
  readonly level: string
  /** Default: standard output. */
  readonly destination?: DestinationStream
}

export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    name: options.name,
    level: options.level,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
  }
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination)
}
