// Generated from DevWrappedNative.sol by scripts/contracts/compile.ts; do not edit.
export const devWrappedNativeAbi = [
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "name_",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "symbol_",
        "type": "string"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "allowance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientAllowance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "balance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientBalance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "approver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidApprover",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidReceiver",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSpender",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "NativeTransferFailed",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Approval",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "Deposit",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Transfer",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "Withdrawal",
    "type": "event"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "allowance",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "approve",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "balanceOf",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "decimals",
    "outputs": [
      {
        "internalType": "uint8",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "deposit",
    "outputs": [],
    "stateMutability": "payable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "name",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "symbol",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "totalSupply",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transfer",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transferFrom",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "withdraw",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "stateMutability": "payable",
    "type": "receive"
  }
] as const

/** Creation code, without constructor arguments. */
export const devWrappedNativeBytecode =
  '0x608060405234801561000f575f5ffd5b50604051610e00380380610e0083398101604081905261002e916100f0565b8181600361003c83826101e4565b50600461004982826101e4565b50505050506102a2565b634e487b7160e01b5f52604160045260245ffd5b5f82601f830112610076575f5ffd5b81516001600160401b0381111561008f5761008f610053565b604051601f8201601f19908116603f011681016001600160401b03811182821017156100bd576100bd610053565b6040528181528382016020018510156100d4575f5ffd5b8160208501602083015e5f918101602001919091529392505050565b5f5f60408385031215610101575f5ffd5b82516001600160401b03811115610116575f5ffd5b61012285828601610067565b602085015190935090506001600160401b0381111561013f575f5ffd5b61014b85828601610067565b9150509250929050565b600181811c9082168061016957607f821691505b60208210810361018757634e487b7160e01b5f52602260045260245ffd5b50919050565b601f8211156101df57828211156101df57805f5260205f20601f840160051c60208510156101b857505f5b90810190601f840160051c035f5b818110156101db575f838201556001016101c6565b5050505b505050565b81516001600160401b038111156101fd576101fd610053565b6102118161020b8454610155565b8461018d565b6020601f821160018114610243575f831561022c5750848201515b5f19600385901b1c1916600184901b17845561029b565b5f84815260208120601f198516915b828110156102725787850151825560209485019460019092019101610252565b508482101561028f57868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b610b51806102af5f395ff3fe6080604052600436106100bb575f3560e01c8063313ce56711610071578063a9059cbb1161004c578063a9059cbb146101f3578063d0e30db014610212578063dd62ed3e1461021a575f5ffd5b8063313ce5671461018357806370a082311461019e57806395d89b41146101df575f5ffd5b806318160ddd116100a157806318160ddd1461012757806323b872dd146101455780632e1a7d4d14610164575f5ffd5b806306fdde03146100ce578063095ea7b3146100f8575f5ffd5b366100ca576100c861026b565b005b5f5ffd5b3480156100d9575f5ffd5b506100e26102ac565b6040516100ef9190610983565b60405180910390f35b348015610103575f5ffd5b506101176101123660046109fe565b61033c565b60405190151581526020016100ef565b348015610132575f5ffd5b506002545b6040519081526020016100ef565b348015610150575f5ffd5b5061011761015f366004610a26565b610355565b34801561016f575f5ffd5b506100c861017e366004610a60565b610378565b34801561018e575f5ffd5b50604051601281526020016100ef565b3480156101a9575f5ffd5b506101376101b8366004610a77565b73ffffffffffffffffffffffffffffffffffffffff165f9081526020819052604090205490565b3480156101ea575f5ffd5b506100e261043d565b3480156101fe575f5ffd5b5061011761020d3660046109fe565b61044c565b6100c861026b565b348015610225575f5ffd5b50610137610234366004610a97565b73ffffffffffffffffffffffffffffffffffffffff9182165f90815260016020908152604080832093909416825291909152205490565b6102753334610459565b60405134815233907fe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c9060200160405180910390a2565b6060600380546102bb90610ac8565b80601f01602080910402602001604051908101604052809291908181526020018280546102e790610ac8565b80156103325780601f1061030957610100808354040283529160200191610332565b820191905f5260205f20905b81548152906001019060200180831161031557829003601f168201915b5050505050905090565b5f336103498185856104b8565b60019150505b92915050565b5f336103628582856104ca565b61036d858585610598565b506001949350505050565b6103823382610641565b60405181815233907f7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b659060200160405180910390a26040515f9033908290849082818181858883f193505050503d805f81146103f9576040519150601f19603f3d011682016040523d82523d5f602084013e6103fe565b606091505b5050905080610439576040517ff4b3b1bc00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5050565b6060600480546102bb90610ac8565b5f33610349818585610598565b73ffffffffffffffffffffffffffffffffffffffff82166104ad576040517fec442f050000000000000000000000000000000000000000000000000000000081525f60048201526024015b60405180910390fd5b6104395f8383610697565b6104c5838383600161083e565b505050565b73ffffffffffffffffffffffffffffffffffffffff8381165f908152600160209081526040808320938616835292905220547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff8110156105925781811015610584576040517ffb8f41b200000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8416600482015260248101829052604481018390526064016104a4565b61059284848484035f61083e565b50505050565b73ffffffffffffffffffffffffffffffffffffffff83166105e7576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f60048201526024016104a4565b73ffffffffffffffffffffffffffffffffffffffff8216610636576040517fec442f050000000000000000000000000000000000000000000000000000000081525f60048201526024016104a4565b6104c5838383610697565b73ffffffffffffffffffffffffffffffffffffffff8216610690576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f60048201526024016104a4565b610439825f835b73ffffffffffffffffffffffffffffffffffffffff83166106ce578060025f8282546106c39190610b19565b9091555061077e9050565b73ffffffffffffffffffffffffffffffffffffffff83165f9081526020819052604090205481811015610753576040517fe450d38c00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8516600482015260248101829052604481018390526064016104a4565b73ffffffffffffffffffffffffffffffffffffffff84165f9081526020819052604090209082900390555b73ffffffffffffffffffffffffffffffffffffffff82166107a7576002805482900390556107d2565b73ffffffffffffffffffffffffffffffffffffffff82165f9081526020819052604090208054820190555b8173ffffffffffffffffffffffffffffffffffffffff168373ffffffffffffffffffffffffffffffffffffffff167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef8360405161083191815260200190565b60405180910390a3505050565b73ffffffffffffffffffffffffffffffffffffffff841661088d576040517fe602df050000000000000000000000000000000000000000000000000000000081525f60048201526024016104a4565b73ffffffffffffffffffffffffffffffffffffffff83166108dc576040517f94280d620000000000000000000000000000000000000000000000000000000081525f60048201526024016104a4565b73ffffffffffffffffffffffffffffffffffffffff8085165f9081526001602090815260408083209387168352929052208290558015610592578273ffffffffffffffffffffffffffffffffffffffff168473ffffffffffffffffffffffffffffffffffffffff167f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b9258460405161097591815260200190565b60405180910390a350505050565b602081525f82518060208401528060208501604085015e5f6040828501015260407fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011684010191505092915050565b803573ffffffffffffffffffffffffffffffffffffffff811681146109f9575f5ffd5b919050565b5f5f60408385031215610a0f575f5ffd5b610a18836109d6565b946020939093013593505050565b5f5f5f60608486031215610a38575f5ffd5b610a41846109d6565b9250610a4f602085016109d6565b929592945050506040919091013590565b5f60208284031215610a70575f5ffd5b5035919050565b5f60208284031215610a87575f5ffd5b610a90826109d6565b9392505050565b5f5f60408385031215610aa8575f5ffd5b610ab1836109d6565b9150610abf602084016109d6565b90509250929050565b600181811c90821680610adc57607f821691505b602082108103610b13577f4e487b71000000000000000000000000000000000000000000000000000000005f52602260045260245ffd5b50919050565b8082018082111561034f577f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd'
