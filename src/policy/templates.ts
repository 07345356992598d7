/** Policies to start from, in the form that people write. The names in them are to be replaced. */

interface TemplateTerms {
  readonly chainId: number
  /** The address of a token, or `native`. */
  readonly token: string
  readonly payees: readonly string[]
  /**
   * The permitted outputs of swaps, deposits (their vault) and withdrawals: tokens, or `native`.
   */
  readonly tokensOut: readonly string[]
  /** In smallest units. */
  readonly perDay: string
}

export interface PolicyTemplate {
  readonly does: string
  readonly write: (terms: TemplateTerms) => object
}

const NORMAL_BREAKERS = [
  { kind: 'refusals', count: 50, per_seconds: 300 },
  { kind: 'spend_factor', factor: 10, per_seconds: 86_400 },
]

export const POLICY_TEMPLATES = {
  payments: {
    does: 'pays the named payees in one token, up to so much a day, and does nothing else',
    write: ({ chainId, token, payees, perDay }) => ({
      rules: [{ name: 'pay', effect: 'allow', when: paying(chainId, token, payees) }],
      default: 'deny',
      ceilings: [{ chain_id: chainId, token, per: 'day', amount: perDay }],
      breakers: NORMAL_BREAKERS,
    }),
  },
  strangers: {
    does: 'pays whom it has paid before, and asks a person about everybody else, and about tokens that are not named',
    write: ({ chainId, token, tokensOut, perDay }) => ({
      rules: [
        {
          name: 'strangers',
          effect: 'require_approval',
          when: { operations: ['send'], new_beneficiary: true },
          approvals: { needed: 1, expires_seconds: 3_600 },
        },
        {
          name: 'other tokens',
          effect: 'require_approval',
          when: {
            operations: ['swap', 'defi_deposit', 'defi_withdraw'],
            not: { token_out: tokensOut },
          },
          approvals: { needed: 1, expires_seconds: 3_600 },
        },
      ],
      default: 'allow',
      ceilings: [{ chain_id: chainId, token, per: 'day', amount: perDay }],
      breakers: NORMAL_BREAKERS,
    }),
  },
  trading: {
    does: 'swaps and deposits for named tokens on one chain in working hours, and sends nothing',
    write: ({ chainId, token, tokensOut, perDay }) => ({
      rules: [
        {
          name: 'trade',
          effect: 'allow',
          when: {
            operations: ['swap', 'defi_deposit', 'defi_withdraw'],
            chains: [chainId],
            token_out: tokensOut,
            utc_hours: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00' }],
          },
        },
      ],
      default: 'deny',
      ceilings: [{ chain_id: chainId, token, per: 'day', amount: perDay }],
      breakers: NORMAL_BREAKERS,
    }),
  },
} as const satisfies Readonly<Record<string, PolicyTemplate>>

function paying(chainId: number, token: string, payees: readonly string[]): object {
  const where = { operations: ['send'], chains: [chainId], beneficiaries: payees }
  if (token === 'native') return { ...where, functions: ['native'] }
  return { ...where, to: [token], functions: ['transfer(address,uint256)'], value_native_lte: '0' }
}
