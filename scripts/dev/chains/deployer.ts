import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { readJsonFile, writeJsonAtomically } from '../home/json-file.js'
import { type DevHome, PRIVATE_FILE_MODE } from '../home/layout.js'

const keyFile = z.object({
  private_key: z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{64}$/)]),
})

/**
 * The account that owns the development world: it deploys the contracts, mints the tokens and
 * pays the faucet. Worth nothing outside this home's chains; made at the first start.
 */
export function deployerAccount(home: DevHome): PrivateKeyAccount {
  const stored = readJsonFile(home.deployerFile, keyFile)
  if (stored !== null) return privateKeyToAccount(stored.private_key)
  const privateKey = generatePrivateKey()
  writeJsonAtomically(home.deployerFile, { private_key: privateKey }, PRIVATE_FILE_MODE)
  return privateKeyToAccount(privateKey)
}
