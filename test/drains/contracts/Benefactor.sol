// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";

import {BookMarket} from "./BookMarket.sol";
import {Claims} from "./Claims.sol";
import {OwnedAccount} from "./OwnedAccount.sol";
import {ReceiptMarket} from "./ReceiptMarket.sol";

interface IMintable {
    function mint(address to, uint256 amount) external;
}

interface IPositions {
    struct MintParams {
        address token0;
        address token1;
        uint24 fee;
        int24 tickLower;
        int24 tickUpper;
        uint256 amount0Desired;
        uint256 amount1Desired;
        uint256 amount0Min;
        uint256 amount1Min;
        address recipient;
        uint256 deadline;
    }

    function mint(
        MintParams calldata params
    ) external returns (uint256 id, uint128 liquidity, uint256 amount0, uint256 amount1);
}

/// @notice Gives a fresh wallet something of everything in one transaction: money, and money that
/// others hold for it. Has dollars and wrapped native of its own to give.
contract Benefactor {
    struct Places {
        IERC20 usdc;
        IERC20 wrapped;
        address kitchen;
        address[] mintable;
        IPositions positions;
        ReceiptMarket receipts;
        BookMarket book;
        Claims claims;
        IERC4626 market;
        IERC4626 vault;
    }

    Places private _at;

    event Endowed(address indexed wallet, uint256 positionId, address account);

    constructor(Places memory places) {
        _at = places;
        IERC20(places.kitchen).approve(address(places.positions), type(uint256).max);
        places.usdc.approve(address(places.positions), type(uint256).max);
        places.usdc.approve(address(places.receipts), type(uint256).max);
        places.usdc.approve(address(places.book), type(uint256).max);
        places.usdc.approve(address(places.claims), type(uint256).max);
        places.usdc.approve(address(places.market), type(uint256).max);
        places.usdc.approve(address(places.vault), type(uint256).max);
    }

    /// @param dollars of each token, and in each of the places, in whole dollars
    function endow(address wallet, uint256 dollars) external payable {
        uint256 usdc = dollars * 1e6;
        OwnedAccount account = new OwnedAccount(wallet);
        _at.usdc.transfer(address(account), usdc);
        IMintable(_at.kitchen).mint(address(this), (dollars * 1e18) / 2);
        _at.receipts.supply(address(_at.usdc), usdc, wallet, 0);
        _at.book.supply(address(_at.usdc), usdc, wallet);
        _at.claims.deposit(address(_at.usdc), usdc, wallet);
        _at.market.deposit(usdc, wallet);
        _at.vault.deposit(usdc, wallet);
        uint256 id = _openPosition(wallet, dollars);
        (bool sent, ) = wallet.call{value: msg.value / 2}("");
        require(sent, "wallet");
        (sent, ) = address(account).call{value: msg.value / 2}("");
        require(sent, "account");
        emit Endowed(wallet, id, address(account));
        give(wallet, dollars);
    }

    /// @param dollars of each token
    function give(address wallet, uint256 dollars) public {
        _at.usdc.transfer(wallet, dollars * 1e6);
        _at.wrapped.transfer(wallet, (dollars * 1e18) / 3_000);
        IMintable(_at.kitchen).mint(wallet, (dollars * 1e18) / 2);
        for (uint256 i = 0; i < _at.mintable.length; i++) {
            IMintable(_at.mintable[i]).mint(wallet, dollars * 1e6);
        }
    }

    function _openPosition(address wallet, uint256 dollars) private returns (uint256 id) {
        bool dollarsFirst = address(_at.usdc) < _at.kitchen;
        (uint256 usdc, uint256 kitchen) = (dollars * 1e6, (dollars * 1e18) / 2);
        (id, , , ) = _at.positions.mint(
            IPositions.MintParams({
                token0: dollarsFirst ? address(_at.usdc) : _at.kitchen,
                token1: dollarsFirst ? _at.kitchen : address(_at.usdc),
                fee: 3000,
                tickLower: -887_220,
                tickUpper: 887_220,
                amount0Desired: dollarsFirst ? usdc : kitchen,
                amount1Desired: dollarsFirst ? kitchen : usdc,
                amount0Min: 0,
                amount1Min: 0,
                recipient: wallet,
                deadline: type(uint256).max
            })
        );
    }
}
