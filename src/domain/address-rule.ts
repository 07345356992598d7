import type { Address } from './ids.js'

/**
 * A user's own entry of addresses to refuse or to trust, on every chain. An allow entry never
 * overrides a sanctions list or the operator's list (CONTRACT.md, "Console").
 */
export interface AddressRule {
  readonly address: Address
  readonly action: 'block' | 'allow'
  readonly note: string | null
  readonly createdAtMs: number
}
