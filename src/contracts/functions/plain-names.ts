import { CONTRACT_FUNCTIONS } from './all-functions.js'

/** Names of functions in plain words: `transferFrom` is “transfer from”. */

const NAMES: ReadonlyMap<string, string> = new Map(
  CONTRACT_FUNCTIONS.map(({ selector, signature }) => {
    const name = signature.slice(0, signature.indexOf('('))
    return [`0x${selector}`, name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()]
  }),
)

/** @returns null for a function that is not in the table */
export function plainNameOf(selector: string | null): string | null {
  return selector === null ? null : (NAMES.get(selector.toLowerCase()) ?? null)
}
