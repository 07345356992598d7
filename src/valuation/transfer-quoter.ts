import { createCallQuoter } from './call-quoter.js'

/** The name under which the shards build their quoter. */
export const createTransferQuoter = createCallQuoter
