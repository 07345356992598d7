import { CONTRACT_FUNCTIONS } from '../../contracts/functions/all-functions.js'
import type { ContractFunction, ProgramName } from '../../contracts/functions/contract-function.js'
import { parseSignature } from './abi-type.js'
import { readCommissionTrailer, readTakerTarget } from './programs/aggregators.js'
import { readBulkerActions } from './programs/compound-bulker.js'
import { readExecution } from './programs/executions.js'
import { readUniversalRouter, readV4Actions } from './programs/uniswap.js'
import type { FrameReader, Shape } from './shape.js'
import { shapeTable } from './walker.js'

const PROGRAMS: Readonly<Record<ProgramName, FrameReader>> = {
  'universal-router': readUniversalRouter,
  'v4-actions': readV4Actions,
  execution: readExecution,
  'bulker-actions': readBulkerActions,
  'taker-target': readTakerTarget,
  'commission-trailer': readCommissionTrailer,
}

function shapeOf({ selector, signature, program, shared }: ContractFunction): Shape {
  const also = program === null ? null : PROGRAMS[program]
  return { selector, ...parseSignature(signature), also, shared }
}

export const ALL_SHAPES: readonly Shape[] = CONTRACT_FUNCTIONS.map(shapeOf)

export const KNOWN_SHAPES = shapeTable(ALL_SHAPES)
