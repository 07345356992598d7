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

/** @throws Error that says what of it is no policy */
export function readPolicy(file: string): Policy {
  const parsed = parsePolicy(readJson(file))
  if (parsed.ok) return parsed.policy
  throw new Error(policyFaults(parsed.faults))
}

/** What of it is no policy. */
export function policyFaults(
  faults: readonly { readonly path: string; readonly message: string }[],
): string {
  return `No policy: ${faults.map(({ path, message }) => `${path || 'it'} ${message}`).join('; ')}`
}

/** Null where it says that there is none. */
export function readPolicyOrNone(file: string): Policy | null {
  return file === 'none' ? null : readPolicy(file)
}
