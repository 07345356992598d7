import type {
  ForeseenApproval,
  ForeseenMove,
  ForeseenOutcome,
  ForeseenPrice,
} from '../../domain/foreseen.js'
import { listOf, nullable, record, scalar } from './codec.js'
import { hexText } from './packing.js'

/** Addresses are returned in lower case. */
const MOVE = record<ForeseenMove>({
  way: scalar,
  token: nullable(hexText),
  tokenId: scalar,
  amount: scalar,
  atLeast: scalar,
  party: hexText,
  valueMicros: scalar,
})

const APPROVAL = record<ForeseenApproval>({
  token: hexText,
  tokenId: scalar,
  spender: hexText,
  amount: scalar,
  valueMicros: scalar,
})

const PRICE = record<ForeseenPrice>({ token: nullable(hexText), value: scalar, decimals: scalar })

export const FORESEEN = record<ForeseenOutcome>({
  basis: scalar,
  moves: listOf(MOVE),
  approvals: listOf(APPROVAL),
  leftOut: scalar,
  gasUsed: scalar,
  prices: listOf(PRICE),
})
