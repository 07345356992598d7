import { BaseError } from 'viem'

/**
 * Returns a short message for a terminal. viem's own contains the whole request with its bytecode.
 */
export function explainError(error: unknown): string {
  if (error instanceof BaseError) return `${error.shortMessage} ${error.details}`.trim()
  return error instanceof Error ? error.message : String(error)
}
