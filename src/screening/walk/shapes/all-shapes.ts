import { shapeTable } from '../walker.js'
import { ACCOUNT_SHAPES } from './accounts.js'
import { AGGREGATOR_SHAPES } from './aggregators.js'
import { BRIDGE_SHAPES } from './bridges.js'
import { MARKET_SHAPES } from './markets.js'
import { TOKEN_SHAPES } from './tokens.js'
import { UNISWAP_SHAPES } from './uniswap.js'

/** Every row of the table, in the order it is documented. */
export const ALL_SHAPES = [
  ...TOKEN_SHAPES,
  ...UNISWAP_SHAPES,
  ...ACCOUNT_SHAPES,
  ...AGGREGATOR_SHAPES,
  ...BRIDGE_SHAPES,
  ...MARKET_SHAPES,
]

export const KNOWN_SHAPES = shapeTable(ALL_SHAPES)
