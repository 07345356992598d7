import type { Input } from '../api.js'

/** Policies to start with; each is one that the policy editor shows the same way. */

export type CallPolicy = NonNullable<Input<'POST', '/api/v1/agent/keys'>['policy']>

export interface PolicyTemplate {
  readonly id: string
  readonly title: string
  /** Describes what it does. */
  readonly words: string
  /** The field that the person fills in, or null. */
  readonly field: 'amount' | 'addresses' | null
  /** @param filled the person's input: USD, or addresses, one per line */
  readonly policyOf: (filled: string) => CallPolicy | null
}

export const POLICY_TEMPLATES: readonly PolicyTemplate[] = [
  {
    id: 'caps',
    title: 'Within the caps',
    words: 'Any call within the caps is allowed.',
    field: null,
    policyOf: () => null,
  },
  {
    id: 'ask-above',
    title: 'Ask me above an amount',
    words: 'Larger calls wait until you approve them.',
    field: 'amount',
    policyOf: (amount) => ({
      rules: [
        {
          name: 'larger amounts',
          effect: 'require_approval',
          when: { spend_usd_gt: amount },
        },
      ],
      default: 'allow',
    }),
  },
  {
    id: 'ask-new',
    title: 'Ask me about new beneficiaries',
    words: 'Calls that pay an address for the first time wait until you approve them.',
    field: null,
    policyOf: () => ({
      rules: [{ name: 'new payees', effect: 'require_approval', when: { new_beneficiary: true } }],
      default: 'allow',
    }),
  },
  {
    id: 'known',
    title: 'Only these beneficiaries',
    words: 'Calls that pay any other address are refused.',
    field: 'addresses',
    policyOf: (addresses) => ({
      rules: [
        {
          name: 'known payees',
          effect: 'allow',
          when: { beneficiaries: addresses.split(/[\s,]+/).filter((one) => one !== '') },
        },
      ],
      default: 'deny',
    }),
  },
  {
    id: 'ask-all',
    title: 'Ask me every time',
    words: 'Every call waits until you approve it.',
    field: null,
    policyOf: () => ({ default: 'require_approval' }),
  },
]
