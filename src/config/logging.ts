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
  return pino(settings, options.destination ?? standardOutput())
}

/** What waits for a disk that is full, at the most; later lines are dropped. */
const WAITING_CHARS_MAX = 1_048_576

/**
 * A line that cannot be written is no reason to end: the log is a file, and its disk may be full.
 * It is tried again with the next one.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true, maxLength: WAITING_CHARS_MAX })
  output.on('error', () => undefined)
  return output
}
