import { BaseError } from 'viem'

/** One message for a terminal. viem's own quotes the whole request, bytecode and all. */
export function explainError(error: unknown): string {
  if (error instanceof BaseError) return `${error.shortMessage} ${error.details}`.trim()
  return error instanceof Error ? error.message : String(error)
}
