import { CommanderError } from 'commander'
import {
  ConnectionError,
  ServiceError,
  UnavailableError,
  WaitTimeoutError,
} from '../client/errors.js'

/** Exit codes for scripts. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** The service understood the request and refused it: permission, caps, screening, funds. */
  refused: 3,
  /** There was no answer, or the service cannot work now: a retry can help. */
  unavailable: 4,
  /** The code that a shell reports for a program ended by SIGPIPE, which Node ignores. */
  readerGone: 141,
} as const

/** The command line was wrong, or something that it needs is missing. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof ConnectionError || error instanceof WaitTimeoutError) return EXIT.unavailable
  if (error instanceof UnavailableError) return EXIT.unavailable
  if (error instanceof ServiceError) return error.retryable ? EXIT.unavailable : EXIT.refused
  return EXIT.failed
}
