import type {
  PredictedApproval,
  PredictedMove,
  PredictedOutcome,
  PredictedPrice,
} from '../../domain/predicted-outcome.js'
import { listOf, nullable, record, scalar } from './codec.js'
import { hexText } from './packing.js'

/** Addresses are returned in lower case. */
const MOVE = record<PredictedMove>({
  way: scalar,
  token: nullable(hexText),
  tokenId: scalar,
  amount: scalar,
  atLeast: scalar,
  party: hexText,
  valueMicros: scalar,
})

const APPROVAL = record<PredictedApproval>({
  token: hexText,
  tokenId: scalar,
  spender: hexText,
  amount: scalar,
  valueMicros: scalar,
})

const PRICE = record<PredictedPrice>({ token: nullable(hexText), value: scalar, decimals: scalar })

export const PREDICTED = record<PredictedOutcome>({
  basis: scalar,
  moves: listOf(MOVE),
  approvals: listOf(APPROVAL),
  leftOut: scalar,
  gasUsed: scalar,
  prices: listOf(PRICE),
})
