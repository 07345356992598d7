// Generated from AgentDelegate.sol by scripts/contracts/compile.ts; do not edit.
export const agentDelegateAbi = [
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "router",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [],
    "name": "InvalidUserSignature",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "NativeTransferFailed",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "NotThisAccount",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "caller",
        "type": "address"
      }
    ],
    "name": "OnlyRouter",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "SafeERC20FailedOperation",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ROUTER",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "hash",
        "type": "bytes32"
      },
      {
        "internalType": "bytes",
        "name": "signature",
        "type": "bytes"
      }
    ],
    "name": "isValidSignature",
    "outputs": [
      {
        "internalType": "bytes4",
        "name": "",
        "type": "bytes4"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      },
      {
        "internalType": "uint256[]",
        "name": "",
        "type": "uint256[]"
      },
      {
        "internalType": "uint256[]",
        "name": "",
        "type": "uint256[]"
      },
      {
        "internalType": "bytes",
        "name": "",
        "type": "bytes"
      }
    ],
    "name": "onERC1155BatchReceived",
    "outputs": [
      {
        "internalType": "bytes4",
        "name": "",
        "type": "bytes4"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      },
      {
        "internalType": "bytes",
        "name": "",
        "type": "bytes"
      }
    ],
    "name": "onERC1155Received",
    "outputs": [
      {
        "internalType": "bytes4",
        "name": "",
        "type": "bytes4"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      },
      {
        "internalType": "bytes",
        "name": "",
        "type": "bytes"
      }
    ],
    "name": "onERC721Received",
    "outputs": [
      {
        "internalType": "bytes4",
        "name": "",
        "type": "bytes4"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "address",
            "name": "account",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "tokenIn",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "amountIn",
            "type": "uint256"
          },
          {
            "internalType": "uint16",
            "name": "feeBps",
            "type": "uint16"
          },
          {
            "internalType": "address",
            "name": "tokenOut",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "minOut",
            "type": "uint256"
          },
          {
            "internalType": "address",
            "name": "target",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "nonce",
            "type": "uint256"
          },
          {
            "internalType": "uint48",
            "name": "deadline",
            "type": "uint48"
          },
          {
            "internalType": "bytes32",
            "name": "dataHash",
            "type": "bytes32"
          }
        ],
        "internalType": "struct Intent",
        "name": "intent",
        "type": "tuple"
      },
      {
        "components": [
          {
            "internalType": "bytes32",
            "name": "r",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "vs",
            "type": "bytes32"
          }
        ],
        "internalType": "struct UserSignature",
        "name": "signature",
        "type": "tuple"
      }
    ],
    "name": "pull",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes4",
        "name": "interfaceId",
        "type": "bytes4"
      }
    ],
    "name": "supportsInterface",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "stateMutability": "payable",
    "type": "receive"
  }
] as const

/** Creation code, without constructor arguments. */
export const agentDelegateBytecode =
  '0x60a060405234801561000f575f5ffd5b506040516110a43803806110a483398101604081905261002e9161003f565b6001600160a01b031660805261006c565b5f6020828403121561004f575f5ffd5b81516001600160a01b0381168114610065575f5ffd5b9392505050565b6080516110046100a05f395f8181610154015281816103740152818161047501528181610543015261060501526110045ff3fe608060405260043610610071575f3560e01c806332fe7b261161004c57806332fe7b26146101435780638d145cd11461019b578063bc197c81146101bc578063f23a6e6114610200575f5ffd5b806301ffc9a71461007c578063150b7a02146100b05780631626ba7e14610124575f5ffd5b3661007857005b5f5ffd5b348015610087575f5ffd5b5061009b610096366004610a74565b610244565b60405190151581526020015b60405180910390f35b3480156100bb575f5ffd5b506100f36100ca366004610be8565b7f150b7a0200000000000000000000000000000000000000000000000000000000949350505050565b6040517fffffffff0000000000000000000000000000000000000000000000000000000090911681526020016100a7565b34801561012f575f5ffd5b506100f361013e366004610c4c565b6102dc565b34801561014e575f5ffd5b506101767f000000000000000000000000000000000000000000000000000000000000000081565b60405173ffffffffffffffffffffffffffffffffffffffff90911681526020016100a7565b3480156101a6575f5ffd5b506101ba6101b5366004610cc3565b61035c565b005b3480156101c7575f5ffd5b506100f36101d6366004610da5565b7fbc197c810000000000000000000000000000000000000000000000000000000095945050505050565b34801561020b575f5ffd5b506100f361021a366004610e54565b7ff23a6e610000000000000000000000000000000000000000000000000000000095945050505050565b5f7fffffffff0000000000000000000000000000000000000000000000000000000082167f4e2312e00000000000000000000000000000000000000000000000000000000014806102d657507f01ffc9a7000000000000000000000000000000000000000000000000000000007fffffffff000000000000000000000000000000000000000000000000000000008316145b92915050565b5f5f6102e985858561065b565b509091505073ffffffffffffffffffffffffffffffffffffffff81163014610331577fffffffff00000000000000000000000000000000000000000000000000000000610353565b7f1626ba7e000000000000000000000000000000000000000000000000000000005b95945050505050565b3373ffffffffffffffffffffffffffffffffffffffff7f00000000000000000000000000000000000000000000000000000000000000001681146103ea576040517f146f8b8e00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff90911660048201526024015b60405180910390fd5b50306103f96020840184610ea8565b73ffffffffffffffffffffffffffffffffffffffff161461041d6020840184610ea8565b9061046d576040517fdeda617400000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff90911660048201526024016103e1565b505f610499837f00000000000000000000000000000000000000000000000000000000000000006106a2565b90505f6104ac828435602086013561084e565b509091505073ffffffffffffffffffffffffffffffffffffffff81163014610500576040517fe3fb657c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b73eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee6105256040860160208701610ea8565b73ffffffffffffffffffffffffffffffffffffffff1603610600575f7f000000000000000000000000000000000000000000000000000000000000000073ffffffffffffffffffffffffffffffffffffffff1685604001356040515f6040518083038185875af1925050503d805f81146105ba576040519150601f19603f3d011682016040523d82523d5f602084013e6105bf565b606091505b50509050806105fa576040517ff4b3b1bc00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b50610655565b6106557f0000000000000000000000000000000000000000000000000000000000000000604086018035906106389060208901610ea8565b73ffffffffffffffffffffffffffffffffffffffff169190610899565b50505050565b5f8080604184900361068f578435602086013560408701355f1a610681898285856108f9565b955095509550505050610699565b505f915060029050825b93509350939050565b604080518082018252601781527f436f756e7465727369676e204167656e74526f7574657200000000000000000060209182015281518083018352600181527f31000000000000000000000000000000000000000000000000000000000000009082015281517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f918101919091527fabb2d98af0fc7d518206db96ac95b9eac4391b910987095880bac44f42733602918101919091527fc89efdaa54c0f20c7adf612882df0950f5a951637e0307cdcb4c672f298b8bc6606082015246608082015273ffffffffffffffffffffffffffffffffffffffff821660a08201525f90819060c001604051602081830303815290604052805190602001209050610846817ff4f21006865c3d9a6e2b87b2c342478d7d30044b3e697d5ad618eb26b5c63219866040516020016107f6929190610ee7565b604051602081830303815290604052805190602001206040517f19010000000000000000000000000000000000000000000000000000000000008152600281019290925260228201526042902090565b949350505050565b5f80807f7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff8416601b60ff86901c01610888888289856108f9565b945094509450505093509350939050565b6108a683838360016109ec565b6108f4576040517f5274afe700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff841660048201526024016103e1565b505050565b5f80807f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a084111561093257505f915060039050826109e2565b604080515f808252602082018084528a905260ff891692820192909252606081018790526080810186905260019060a0016020604051602081039080840390855afa158015610983573d5f5f3e3d5ffd5b50506040517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0015191505073ffffffffffffffffffffffffffffffffffffffff81166109d957505f9250600191508290506109e2565b92505f91508190505b9450945094915050565b6040517fa9059cbb000000000000000000000000000000000000000000000000000000005f81815273ffffffffffffffffffffffffffffffffffffffff8616600452602485905291602083604481808b5af1925060015f51148316610a68578383151615610a5c573d5f823e3d81fd5b5f873b113d1516831692505b60405250949350505050565b5f60208284031215610a84575f5ffd5b81357fffffffff0000000000000000000000000000000000000000000000000000000081168114610ab3575f5ffd5b9392505050565b803573ffffffffffffffffffffffffffffffffffffffff81168114610add575f5ffd5b919050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52604160045260245ffd5b604051601f82017fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe016810167ffffffffffffffff81118282101715610b5657610b56610ae2565b604052919050565b5f82601f830112610b6d575f5ffd5b813567ffffffffffffffff811115610b8757610b87610ae2565b610bb860207fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f84011601610b0f565b818152846020838601011115610bcc575f5ffd5b816020850160208301375f918101602001919091529392505050565b5f5f5f5f60808587031215610bfb575f5ffd5b610c0485610aba565b9350610c1260208601610aba565b925060408501359150606085013567ffffffffffffffff811115610c34575f5ffd5b610c4087828801610b5e565b91505092959194509250565b5f5f5f60408486031215610c5e575f5ffd5b83359250602084013567ffffffffffffffff811115610c7b575f5ffd5b8401601f81018613610c8b575f5ffd5b803567ffffffffffffffff811115610ca1575f5ffd5b866020828401011115610cb2575f5ffd5b939660209190910195509293505050565b5f5f828403610180811215610cd6575f5ffd5b610140811215610ce4575f5ffd5b83925060407ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec082011215610d16575f5ffd5b50610140830190509250929050565b5f82601f830112610d34575f5ffd5b813567ffffffffffffffff811115610d4e57610d4e610ae2565b8060051b610d5e60208201610b0f565b91825260208185018101929081019086841115610d79575f5ffd5b6020860192505b83831015610d9b578235825260209283019290910190610d80565b9695505050505050565b5f5f5f5f5f60a08688031215610db9575f5ffd5b610dc286610aba565b9450610dd060208701610aba565b9350604086013567ffffffffffffffff811115610deb575f5ffd5b610df788828901610d25565b935050606086013567ffffffffffffffff811115610e13575f5ffd5b610e1f88828901610d25565b925050608086013567ffffffffffffffff811115610e3b575f5ffd5b610e4788828901610b5e565b9150509295509295909350565b5f5f5f5f5f60a08688031215610e68575f5ffd5b610e7186610aba565b9450610e7f60208701610aba565b93506040860135925060608601359150608086013567ffffffffffffffff811115610e3b575f5ffd5b5f60208284031215610eb8575f5ffd5b610ab382610aba565b803561ffff81168114610add575f5ffd5b803565ffffffffffff81168114610add575f5ffd5b8281526101608101610f1960208301610eff85610aba565b73ffffffffffffffffffffffffffffffffffffffff169052565b610f2560208401610aba565b73ffffffffffffffffffffffffffffffffffffffff81166040840152506040830135606083810191909152610f5b908401610ec1565b61ffff8116608084015250610f7260808401610aba565b73ffffffffffffffffffffffffffffffffffffffff811660a08401525060a083013560c083810191909152610fa8908401610aba565b73ffffffffffffffffffffffffffffffffffffffff811660e08401525060e083013561010083810191909152610fdf908401610ed2565b65ffffffffffff8116610120840152506101209290920135610140919091015291905056'

/** The deployed code inside the creation code, in bytes; immutables are words inside it. */
export const agentDelegateRuntime = {
  offset: 160,
  length: 4100,
  immutables: [340, 884, 1141, 1347, 1541],
} as const
