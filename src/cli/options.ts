import { InvalidArgumentError } from 'commander'
import { chainNamed } from '../domain/chain-named.js'
import { CHAINS } from '../domain/chains.js'

/** Parsers of option values. The service itself checks amounts and addresses. */

export function integerOption(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('give a whole number')
  return Number(text)
}

/** Shown with every chain option. */
export const CHAIN_HELP = 'chain id or name, such as 8453 or base'

/** Parses a chain's id or name. The service refuses an unknown id. */
export function chainOption(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const found = chainNamed(CHAINS, text)
  if (found !== null) return found.id
  const names = CHAINS.map(({ name }) => name).join(', ')
  throw new InvalidArgumentError(`No chain is named ${text}. The chains are: ${names}.`)
}

/** Parses chains by id or name, separated by commas. */
export function chainListOption(text: string): number[] {
  return text.split(',').map((part) => chainOption(part.trim()))
}

export function listOption(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}
