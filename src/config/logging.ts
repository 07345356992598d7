import { type DestinationStream, type Logger, pino } from 'pino'

/**
 * The JSON log of a process. Redaction is the second protection; the first is that secrets are
 * never passed to the logger.
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

/** Each name at the top of a record and one and two levels below (pino has no deep wildcard). */
const REDACTED_PATHS = [
  ...SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  ...SECRET_HEADERS.flatMap((name) => [name, `*${name}`, `*.*${name}`]),
]

interface LoggerOptions {
  /** The process that writes: `service`, `identity-provider`, `quorum-signer`. */
  readonly name: string
  readonly level: string
  /** The default is standard output. */
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

/** The bound of text that waits for a full disk; later lines are dropped. */
const WAITING_CHARS_MAX = 1_048_576

/**
 * Keeps the process running when a line cannot be written, because the log's disk may be full. The
 * line is retried with the next one.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true, maxLength: WAITING_CHARS_MAX })
  output.on('error', () => undefined)
  return output
}
