// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DevToken} from "../../../src/contracts/devnet/DevToken.sol";
import {AgentDelegate} from "../../../src/contracts/router/AgentDelegate.sol";
import {AgentRouter} from "../../../src/contracts/router/AgentRouter.sol";
import {CoSignature, Intent, UserSignature} from "../../../src/contracts/router/RouterIntent.sol";
import {Venue} from "../solidity/Venue.sol";
import {vm} from "./Vm.sol";

/// @notice A Router with one venue, two tokens, a co-signer and a relayer, and the means to sign.
abstract contract World {
    uint256 internal constant CO_SIGNER = 0xC0516;
    uint256 internal constant FUNDS = 1e30;
    /// @dev Orders of secp256k1 and P-256; private keys are below them.
    uint256 internal constant SECP256K1_N =
        0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;
    uint256 internal constant P256_N =
        0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551;

    address internal constant RELAYER = address(0x4e1a7e4);
    address internal constant FEE_RECIPIENT = address(0xfee);

    AgentRouter internal router;
    AgentDelegate internal delegate;
    DevToken internal tokenIn;
    DevToken internal tokenOut;
    Venue internal venue;

    function _build() internal {
        vm.warp(1_800_000_000);
        router = new AgentRouter(address(this));
        delegate = new AgentDelegate(address(router));
        tokenIn = new DevToken("In", "IN", address(this));
        tokenOut = new DevToken("Out", "OUT", address(this));
        venue = new Venue();
        tokenOut.mint(address(venue), type(uint128).max);
        _changeCoSigners(new uint256[](0), _one(CO_SIGNER), 0);
        router.setFeeRecipient(FEE_RECIPIENT);
        address[] memory relayers = new address[](1);
        relayers[0] = RELAYER;
        router.addRelayers(relayers);
        AgentRouter.AllowedCall[] memory calls = new AgentRouter.AllowedCall[](1);
        calls[0] = AgentRouter.AllowedCall(address(venue), Venue.trade.selector);
        router.allowCalls(calls);
    }

    /// @dev An account with the delegation designator of EIP-7702 as its code.
    function _createAccount(uint256 key) internal returns (address account) {
        account = vm.addr(key);
        vm.etch(account, abi.encodePacked(hex"ef0100", address(delegate)));
        tokenIn.mint(account, FUNDS);
    }

    function _changeCoSigners(
        uint256[] memory ended,
        uint256[] memory added,
        uint256 overlap
    ) internal {
        router.changeCoSigners(_points(ended), _points(added), overlap);
    }

    function _one(uint256 key) internal pure returns (uint256[] memory keys) {
        keys = new uint256[](1);
        keys[0] = key;
    }

    function _points(
        uint256[] memory keys
    ) private view returns (AgentRouter.CoSignerKey[] memory points) {
        points = new AgentRouter.CoSignerKey[](keys.length);
        for (uint256 i = 0; i < keys.length; i++) {
            (uint256 x, uint256 y) = vm.publicKeyP256(keys[i]);
            points[i] = AgentRouter.CoSignerKey(bytes32(x), bytes32(y));
        }
    }

    /// @return data a trade of the whole net input for `given`, as the honest service encodes it
    function _trade(
        address account,
        uint256 amountIn,
        uint256 feeBps,
        uint256 given
    ) internal view returns (bytes memory data) {
        uint256 net = amountIn - (amountIn * feeBps) / 10_000;
        return abi.encodeCall(Venue.trade, (tokenIn, net, tokenOut, given, account));
    }

    function _intent(
        address account,
        uint256 amountIn,
        uint16 feeBps,
        uint256 minOut,
        uint256 nonce,
        bytes memory data
    ) internal view returns (Intent memory) {
        return
            Intent({
                account: account,
                tokenIn: address(tokenIn),
                amountIn: amountIn,
                feeBps: feeBps,
                tokenOut: address(tokenOut),
                minOut: minOut,
                target: address(venue),
                nonce: nonce,
                deadline: uint48(block.timestamp + 60),
                dataHash: keccak256(data)
            });
    }

    function _userSign(
        uint256 key,
        Intent memory intent
    ) internal view returns (UserSignature memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, router.digestOf(intent));
        return UserSignature(r, bytes32(uint256(s) | (uint256(v - 27) << 255)));
    }

    function _coSign(
        uint256 key,
        Intent memory intent
    ) internal view returns (CoSignature memory) {
        bytes32 digest = router.digestOf(intent);
        (bytes32 r, bytes32 s) = vm.signP256(key, sha256(abi.encodePacked(digest)));
        if (uint256(s) > P256_N / 2) s = bytes32(P256_N - uint256(s));
        (uint256 x, uint256 y) = vm.publicKeyP256(key);
        return CoSignature(bytes32(x), bytes32(y), r, s);
    }

    function _bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        return low + (value % (high - low + 1));
    }
}
