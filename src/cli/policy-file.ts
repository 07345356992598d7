import { readFileSync } from 'node:fs'
import { parsePolicy } from '../policy/parse-policy.js'
import type { Policy } from '../policy/policy.js'

/** @throws Error that names the file */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON`, { cause: error })
  }
}

/** @throws Error that names the faults of the policy */
export function readPolicy(file: string): Policy {
  const parsed = parsePolicy(readJson(file))
  if (parsed.ok) return parsed.policy
  throw new Error(policyFaults(parsed.faults))
}

/** Describes the faults of a policy. */
export function policyFaults(
  faults: readonly { readonly path: string; readonly message: string }[],
): string {
  return `No policy: ${faults.map(({ path, message }) => `${path || 'it'} ${message}`).join('; ')}`
}

/** Returns null for `none`. */
export function readPolicyOrNone(file: string): Policy | null {
  return file === 'none' ? null : readPolicy(file)
}
