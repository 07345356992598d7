import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { writeJsonAtomically } from '../home/json-file.js'
import { type DevHome, PRIVATE_FILE_MODE } from '../home/layout.js'
import { readDeployerKey } from './deployer-key.js'

/**
 * The account that owns the development world: it deploys the contracts, mints the tokens and pays
 * the faucet. It is made at the first start, and worthless outside this home's chains.
 */
export function deployerAccount(home: DevHome): PrivateKeyAccount {
  const stored = readDeployerKey(home)
  if (stored !== null) return privateKeyToAccount(stored)
  const privateKey = generatePrivateKey()
  writeJsonAtomically(home.deployerFile, { private_key: privateKey }, PRIVATE_FILE_MODE)
  return privateKeyToAccount(privateKey)
}
