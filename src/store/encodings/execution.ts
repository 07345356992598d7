import type { Execution } from '../../domain/execution.js'
import { record, scalar } from './codec.js'

export const EXECUTION = record<Execution>({
  router: scalar,
  tokenIn: scalar,
  amountIn: scalar,
  fee: scalar,
  tokenOut: scalar,
  amountOut: scalar,
})
