import { InvalidArgumentError } from 'commander'

/** Parsers of option values. What the service checks better (amounts, addresses) is left to it. */

export function integerOption(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('a whole number is due')
  return Number(text)
}

export function integerListOption(text: string): number[] {
  return text.split(',').map((part) => integerOption(part.trim()))
}

export function listOption(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}
