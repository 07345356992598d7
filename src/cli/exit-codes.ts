import { CommanderError } from 'commander'
import {
  ConnectionError,
  ServiceError,
  UnavailableError,
  WaitTimeoutError,
} from '../client/errors.js'

/** What the exit code tells a script. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** The service understood and said no: permission, caps, screening, funds. */
  refused: 3,
  /** Nobody answered, or the service cannot work now: trying again can help. */
  unavailable: 4,
  /** As a shell says of a program that SIGPIPE ended, which Node ignores. */
  readerGone: 141,
} as const

/** The command line was not understood, or something it needs is not there. */
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
