import type { ConsoleOutput } from '../api/console-operations.js'
import { parseCanonical, parsePolicy } from '../policy/parse-policy.js'
import type { Policy } from '../policy/policy.js'
import { allOf } from './all-pages.js'
import type { consoleClient } from './connection.js'
import { UsageError } from './exit-codes.js'
import { policyFaults } from './policy-file.js'

export type Key = ConsoleOutput<'list_keys'>['keys'][number]
type ConsoleClient = Awaited<ReturnType<typeof consoleClient>>

export function allKeys(client: ConsoleClient): Promise<Key[]> {
  return allOf(
    (page) => client.listKeys(page),
    ({ keys }) => keys,
  )
}

/** @throws UsageError when the user has no key with this id */
export async function findKey(client: ConsoleClient, keyId: string): Promise<Key> {
  return keyIn(await allKeys(client), keyId)
}

export function keyIn(keys: readonly Key[], keyId: string): Key {
  const key = keys.find(({ key_id }) => key_id === keyId)
  if (key === undefined) throw new UsageError(`${keyId} is not one of your keys`)
  return key
}

/** @throws UsageError for an unreadable policy, which is not the same as no policy */
export function policyOfKey({ key_id, policy }: Key): Policy | null {
  if (policy === null) return null
  // Parsed as it was signed: an old policy may contain what new ones may not.
  const signed = parseCanonical(JSON.stringify(policy))
  if (signed !== null) return signed
  const parsed = parsePolicy(policy)
  if (parsed.ok) return parsed.policy
  throw new UsageError(
    `the policy of ${key_id} cannot be read here. ${policyFaults(parsed.faults)}`,
  )
}
