import { ACCOUNT_FUNCTIONS } from './accounts.js'
import { AGGREGATOR_FUNCTIONS } from './aggregators.js'
import { BRIDGE_FUNCTIONS } from './bridges.js'
import type { ContractFunction } from './contract-function.js'
import { MARKET_FUNCTIONS } from './markets.js'
import { OPERATOR_FUNCTIONS } from './operators.js'
import { PERMIT2_FUNCTIONS } from './permit2.js'
import { POWER_FUNCTIONS } from './powers.js'
import { TOKEN_FUNCTIONS } from './tokens.js'
import { UNISWAP_FUNCTIONS } from './uniswap.js'

/** Every row of the table. Screening and valuation each build theirs from it, once. */
export const CONTRACT_FUNCTIONS: readonly ContractFunction[] = [
  ...TOKEN_FUNCTIONS,
  ...PERMIT2_FUNCTIONS,
  ...UNISWAP_FUNCTIONS,
  ...ACCOUNT_FUNCTIONS,
  ...AGGREGATOR_FUNCTIONS,
  ...BRIDGE_FUNCTIONS,
  ...MARKET_FUNCTIONS,
  ...OPERATOR_FUNCTIONS,
  ...POWER_FUNCTIONS,
]
