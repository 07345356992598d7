// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IToken, ModelPermit2} from "../../valuation/contracts/ModelPermit2.sol";

/// @notice With the model of a signature of `SignedToken`, and transfers by signature alone.
contract SignedPermit2 is ModelPermit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct TransferDetails {
        address to;
        uint256 requestedAmount;
    }

    mapping(uint256 => bool) public used;

    function permitTransferFrom(
        PermitTransferFrom calldata permitted,
        TransferDetails calldata details,
        address owner,
        bytes calldata signature
    ) external {
        require(_isSigned(owner, 0, signature), "signature");
        require(!used[permitted.nonce], "used");
        require(details.requestedAmount <= permitted.permitted.amount, "amount");
        used[permitted.nonce] = true;
        IToken(permitted.permitted.token).transferFrom(owner, details.to, details.requestedAmount);
    }

    function _isSigned(
        address owner,
        bytes32,
        bytes calldata signature
    ) internal pure override returns (bool) {
        return keccak256(signature) == keccak256(abi.encode(keccak256(abi.encode(owner))));
    }
}
